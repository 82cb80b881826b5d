-- The archive (ARCHIVE_URL): what its newest manifest says, and what may leave this database because of it.

CREATE TABLE archive_manifests (
  -- From 1. A restored database skips those that it did not see.
  generation INTEGER PRIMARY KEY,
  -- Every observation up to this number is in the archive, or was erased.
  through INTEGER NOT NULL,
  -- Of manifest.json.
  etag TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  -- What is signed, a leaf of the log.
  note TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE TRIGGER archive_manifests_kept BEFORE DELETE ON archive_manifests
  BEGIN SELECT RAISE(ABORT, 'archive_manifests is append-only'); END;
CREATE TRIGGER archive_manifests_fixed BEFORE UPDATE ON archive_manifests
  BEGIN SELECT RAISE(ABORT, 'archive_manifests is append-only'); END;
CREATE TRIGGER archive_manifests_grow BEFORE INSERT ON archive_manifests
  WHEN EXISTS (SELECT 1 FROM archive_manifests WHERE generation >= NEW.generation OR through > NEW.through)
  BEGIN SELECT RAISE(ABORT, 'the manifests of the archive grow'); END;

-- The objects of the newest manifest.
CREATE TABLE archive_objects (
  key TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  -- A month or a day.
  period TEXT NOT NULL,
  -- What the SHA-256 of the registrable domains in it begins with, in hexadecimal digits.
  bucket TEXT NOT NULL,
  etag TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  "rows" INTEGER NOT NULL,
  first_seq INTEGER NOT NULL,
  last_seq INTEGER NOT NULL,
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  first_path TEXT NOT NULL,
  last_path TEXT NOT NULL,
  -- Where the seeds of its rows are, as JSON.
  seeds TEXT,
  -- The key at which engines look for it, while it is not there.
  publish TEXT,
  generation INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Objects that no manifest names any more, and since when, in ms.
CREATE TABLE archive_left (key TEXT PRIMARY KEY, since INTEGER NOT NULL) STRICT, WITHOUT ROWID;

-- The highest number of an observation that an archive was seen to have: a lower one must not be given again.
CREATE TABLE archive_seen (one INTEGER PRIMARY KEY CHECK (one = 1), through INTEGER NOT NULL) STRICT;

-- Hostnames, labels from the right, whose rows must leave the archive.
CREATE TABLE archive_erasures (
  path TEXT PRIMARY KEY,
  bucket TEXT NOT NULL,
  -- The newest manifest when it was erased: one that was made from it may still bring rows back.
  generation INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What an erased observation leaves: its number, and the SHA-256 of its note, which the log has.
CREATE TABLE erased_observations (
  seq INTEGER PRIMARY KEY,
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  -- The archive's object that says so too.
  object TEXT
) STRICT;
CREATE INDEX erased_observations_waiting ON erased_observations (seq) WHERE object IS NULL;
CREATE TRIGGER erased_observations_kept BEFORE DELETE ON erased_observations
  BEGIN SELECT RAISE(ABORT, 'erased_observations is append-only'); END;
CREATE TRIGGER erased_observations_fixed BEFORE UPDATE ON erased_observations
  WHEN NEW.seq IS NOT OLD.seq OR NEW.hash IS NOT OLD.hash
  BEGIN SELECT RAISE(ABORT, 'erased_observations is append-only'); END;

-- Has its row only within a transaction that prunes or erases. Nothing else deletes an observation.
CREATE TABLE archive_gate (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  -- What may be pruned: up to this number.
  through INTEGER NOT NULL,
  -- Whose changes may be erased.
  host INTEGER
) STRICT;
CREATE TRIGGER archive_gate_bounded BEFORE INSERT ON archive_gate
  WHEN NEW.through > coalesce((SELECT through FROM archive_manifests ORDER BY generation DESC LIMIT 1), 0)
  BEGIN SELECT RAISE(ABORT, 'only what is in the archive may be pruned'); END;

DROP TRIGGER observations_kept;
CREATE TRIGGER observations_kept BEFORE DELETE ON observations
  WHEN NOT EXISTS (SELECT 1 FROM archive_gate)
    OR NOT (
      EXISTS (SELECT 1 FROM erased_observations WHERE seq = OLD.seq)
      OR OLD.seq <= (SELECT through FROM archive_gate) AND OLD.seq IS NOT (SELECT seq FROM hostnames WHERE id = OLD.host))
  BEGIN SELECT RAISE(ABORT, 'observations is append-only'); END;
DROP TRIGGER record_bodies_kept;
CREATE TRIGGER record_bodies_kept BEFORE DELETE ON record_bodies WHEN NOT EXISTS (SELECT 1 FROM archive_gate)
  BEGIN SELECT RAISE(ABORT, 'record_bodies is append-only'); END;
DROP TRIGGER body_patches_kept;
CREATE TRIGGER body_patches_kept BEFORE DELETE ON body_patches WHEN NOT EXISTS (SELECT 1 FROM archive_gate)
  BEGIN SELECT RAISE(ABORT, 'body_patches is append-only'); END;
DROP TRIGGER shared_circumstances_kept;
CREATE TRIGGER shared_circumstances_kept BEFORE DELETE ON shared_circumstances WHEN NOT EXISTS (SELECT 1 FROM archive_gate)
  BEGIN SELECT RAISE(ABORT, 'shared_circumstances is append-only'); END;
DROP TRIGGER deltas_fixed;
CREATE TRIGGER deltas_fixed BEFORE UPDATE ON deltas
  WHEN (NEW.seq IS NOT OLD.seq OR NEW.host IS NOT OLD.host OR NEW.signal IS NOT OLD.signal OR NEW.kind IS NOT OLD.kind
      OR NEW."before" IS NOT OLD."before" OR NEW."after" IS NOT OLD."after" OR NEW.observation IS NOT OLD.observation
      OR NEW.rotation IS NOT OLD.rotation OR NEW.at >= OLD.at
      OR NOT EXISTS (SELECT 1 FROM records WHERE paper = '' AND kind = 'clock' AND name = 'records'))
    -- An erased hostname keeps the numbers of its changes.
    AND NOT (NEW.seq IS OLD.seq AND NEW.host IS OLD.host AND NEW.at IS OLD.at AND NEW.signal IS OLD.signal
      AND NEW.kind IS OLD.kind AND NEW.observation IS OLD.observation AND NEW.rotation IS OLD.rotation
      AND NEW."before" = '[]' AND NEW."after" = '[]' AND EXISTS (SELECT 1 FROM archive_gate WHERE host = OLD.host))
  BEGIN SELECT RAISE(ABORT, 'deltas is append-only'); END;
DROP TRIGGER damaged_observations_kept;
CREATE TRIGGER damaged_observations_kept BEFORE DELETE ON damaged_observations
  WHEN NOT EXISTS (SELECT 1 FROM archive_gate) OR NOT EXISTS (SELECT 1 FROM erased_observations WHERE seq = OLD.seq)
  BEGIN SELECT RAISE(ABORT, 'damaged_observations is append-only'); END;

-- What left of each host, so that counts and first times need no archive. A later number of a host leaves later.
CREATE TABLE archived_hosts (
  host INTEGER PRIMARY KEY REFERENCES hostnames,
  count INTEGER NOT NULL,
  first_at INTEGER NOT NULL,
  first_seq INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  last_seq INTEGER NOT NULL
) STRICT;
CREATE TRIGGER observations_archived AFTER DELETE ON observations BEGIN
  INSERT INTO archived_hosts
    VALUES (OLD.host, 1, OLD.observed_at, OLD.seq, coalesce(OLD.signed_at, OLD.observed_at), OLD.seq)
    ON CONFLICT DO UPDATE SET count = count + 1, last_at = excluded.last_at, last_seq = excluded.last_seq;
END;
