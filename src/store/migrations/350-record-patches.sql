-- What an observation repeats is no longer stored again. Observations of before keep their texts as they are.

-- What a body changes in another one, which is stored whole: a list of pieces, each a part of the base that is kept, by
-- its position and length in characters, and the text that follows it.
CREATE TABLE body_patches (
  id INTEGER PRIMARY KEY,
  base INTEGER NOT NULL REFERENCES record_bodies,
  -- The first four bytes of its SHA-256, as an integer.
  digest INTEGER NOT NULL,
  -- How many characters the patches since the base have stored again.
  repeated INTEGER NOT NULL,
  patch TEXT NOT NULL
) STRICT;
CREATE INDEX body_patches_by_digest ON body_patches (base, digest);

-- TTLs, transports and flags that many probes have: `[[ttl, …], ["ua", …]]`, by the name of the signal.
CREATE TABLE shared_circumstances (
  id INTEGER PRIMARY KEY,
  digest INTEGER NOT NULL,
  circumstances TEXT NOT NULL
) STRICT;
CREATE INDEX shared_circumstances_by_digest ON shared_circumstances (digest);

-- What stands in the signature line of a receipt, and its kid.
CREATE TABLE receipt_signers (
  id INTEGER PRIMARY KEY,
  kid TEXT NOT NULL,
  name TEXT NOT NULL,
  key_hash BLOB NOT NULL CHECK (length(key_hash) = 4),
  UNIQUE (kid, name, key_hash)
) STRICT;

-- Null where the body is stored whole.
ALTER TABLE observations ADD COLUMN patch INTEGER REFERENCES body_patches;
-- Where it is set, `circumstances` is `[[rtt_ms, …]]`, with the TTLs as a second list where they are others.
ALTER TABLE observations ADD COLUMN shared INTEGER REFERENCES shared_circumstances;
-- The parts of the receipt. Where they are set, `receipt` is empty and `receipt_hash` is the beginning of `hash`.
ALTER TABLE observations ADD COLUMN signer INTEGER REFERENCES receipt_signers;
ALTER TABLE observations ADD COLUMN fields INTEGER;
ALTER TABLE observations ADD COLUMN root BLOB;
ALTER TABLE observations ADD COLUMN prev BLOB;
ALTER TABLE observations ADD COLUMN hash BLOB;
ALTER TABLE observations ADD COLUMN signature BLOB;

DROP TRIGGER observations_fixed;
CREATE TRIGGER observations_fixed BEFORE UPDATE ON observations
  WHEN NEW.seq IS NOT OLD.seq OR NEW.host IS NOT OLD.host OR NEW.body IS NOT OLD.body OR NEW.patch IS NOT OLD.patch
    OR NEW.circumstances IS NOT OLD.circumstances OR NEW.shared IS NOT OLD.shared OR NEW.seed IS NOT OLD.seed
    OR NEW.receipt IS NOT OLD.receipt OR NEW.receipt_hash IS NOT OLD.receipt_hash OR NEW.signer IS NOT OLD.signer
    OR NEW.fields IS NOT OLD.fields OR NEW.root IS NOT OLD.root OR NEW.prev IS NOT OLD.prev OR NEW.hash IS NOT OLD.hash
    OR NEW.signature IS NOT OLD.signature OR NEW.signed_at IS NOT coalesce(OLD.signed_at, OLD.observed_at)
    OR NEW.observed_at >= OLD.observed_at
    OR NOT EXISTS (SELECT 1 FROM records WHERE paper = '' AND kind = 'clock' AND name = 'records')
  BEGIN SELECT RAISE(ABORT, 'observations is append-only'); END;
CREATE TRIGGER body_patches_kept BEFORE DELETE ON body_patches BEGIN SELECT RAISE(ABORT, 'body_patches is append-only'); END;
CREATE TRIGGER body_patches_fixed BEFORE UPDATE ON body_patches BEGIN SELECT RAISE(ABORT, 'body_patches is append-only'); END;
CREATE TRIGGER shared_circumstances_kept BEFORE DELETE ON shared_circumstances
  BEGIN SELECT RAISE(ABORT, 'shared_circumstances is append-only'); END;
CREATE TRIGGER shared_circumstances_fixed BEFORE UPDATE ON shared_circumstances
  BEGIN SELECT RAISE(ABORT, 'shared_circumstances is append-only'); END;
CREATE TRIGGER receipt_signers_kept BEFORE DELETE ON receipt_signers
  BEGIN SELECT RAISE(ABORT, 'receipt_signers is append-only'); END;
CREATE TRIGGER receipt_signers_fixed BEFORE UPDATE ON receipt_signers
  BEGIN SELECT RAISE(ABORT, 'receipt_signers is append-only'); END;
