-- Accounts that prove that a watched name is theirs, and what a proven owner may do. Times in ms. A proof covers its name
-- and the names below it that belong to the same registrable domain: `path` has the labels from the right, as in hostnames.
CREATE TABLE owner_proofs (
  account TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  path TEXT NOT NULL,
  registrable TEXT NOT NULL,
  -- What the name shows as its proof: the same for as long as the row exists.
  token TEXT NOT NULL,
  made_at INTEGER NOT NULL,
  -- Where the proof was found last, since when the name is proven, and when it was found last.
  way TEXT CHECK (way IN ('txt', 'file')),
  proven_at INTEGER,
  found_at INTEGER,
  -- The last check, and its result as JSON.
  checked_at INTEGER,
  result TEXT,
  -- When the proof was missing first since it was found last.
  missing_at INTEGER,
  -- When the job looks again; null while there is nothing to look for. A check moves it on before it begins.
  due_at INTEGER,
  -- When the operator revoked it, and why.
  revoked_at INTEGER,
  revoked_for TEXT,
  PRIMARY KEY (account, name),
  CHECK ((proven_at IS NULL) = (due_at IS NULL)),
  CHECK (proven_at IS NULL OR (way IS NOT NULL AND found_at IS NOT NULL AND revoked_at IS NULL)),
  CHECK (proven_at IS NOT NULL OR missing_at IS NULL)
) STRICT, WITHOUT ROWID;
CREATE INDEX owner_proofs_in_force ON owner_proofs (registrable) WHERE proven_at IS NOT NULL;
CREATE INDEX owner_proofs_due ON owner_proofs (due_at) WHERE due_at IS NOT NULL;

-- What happened to proofs and opt-outs, and who did it: `account:…`, `cli`, or `job`. It outlives the account, whose id
-- then leads to nobody.
CREATE TABLE owner_events (
  n INTEGER PRIMARY KEY,
  account TEXT NOT NULL,
  name TEXT NOT NULL,
  event TEXT NOT NULL,
  at INTEGER NOT NULL,
  made_by TEXT NOT NULL,
  -- The mail that tells of it.
  mail TEXT UNIQUE
) STRICT;
CREATE INDEX owner_events_by_name ON owner_events (name, n);

-- Names that an owner opted out: unlike those of opt_outs, until the owner, or once it is none any more another one, opts
-- them in.
CREATE TABLE owner_opt_outs (
  name TEXT NOT NULL,
  account TEXT NOT NULL,
  path TEXT NOT NULL,
  registrable TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (name, account)
) STRICT, WITHOUT ROWID;
CREATE INDEX owner_opt_outs_below ON owner_opt_outs (registrable, path);

-- What state the hostnames had that such an opt-out hides.
CREATE TABLE owner_hidden (
  host INTEGER PRIMARY KEY REFERENCES hostnames,
  state TEXT NOT NULL CHECK (state IN ('watched', 'paused'))
) STRICT;

-- What an owner says about a change. It is shown while its proof is in force.
CREATE TABLE owner_notes (
  delta INTEGER NOT NULL REFERENCES deltas,
  account TEXT NOT NULL,
  name TEXT NOT NULL,
  note TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (delta, account),
  FOREIGN KEY (account, name) REFERENCES owner_proofs (account, name) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX owner_notes_of_proof ON owner_notes (account, name, delta);

-- How often something was done on a UTC day: looks at a hostname, checks of an account.
CREATE TABLE owner_uses (
  what TEXT NOT NULL CHECK (what IN ('look', 'check')),
  subject TEXT NOT NULL,
  day TEXT NOT NULL,
  used INTEGER NOT NULL CHECK (used >= 0),
  PRIMARY KEY (what, subject, day)
) STRICT, WITHOUT ROWID;

-- Rises whenever what pages show of changes is another than before, without a change: they are cached by it.
CREATE TABLE owner_version (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  n INTEGER NOT NULL
) STRICT;
INSERT INTO owner_version VALUES (1, 0);
CREATE TRIGGER owner_notes_made AFTER INSERT ON owner_notes BEGIN UPDATE owner_version SET n = n + 1; END;
CREATE TRIGGER owner_notes_changed AFTER UPDATE ON owner_notes BEGIN UPDATE owner_version SET n = n + 1; END;
CREATE TRIGGER owner_notes_removed AFTER DELETE ON owner_notes BEGIN UPDATE owner_version SET n = n + 1; END;
CREATE TRIGGER owner_proofs_moved AFTER UPDATE OF proven_at ON owner_proofs WHEN NEW.proven_at IS NOT OLD.proven_at
  BEGIN UPDATE owner_version SET n = n + 1; END;
CREATE TRIGGER owner_opted_out AFTER INSERT ON owner_opt_outs BEGIN UPDATE owner_version SET n = n + 1; END;
CREATE TRIGGER owner_opted_in AFTER DELETE ON owner_opt_outs BEGIN UPDATE owner_version SET n = n + 1; END;

-- Hostnames of proven owners: probed within each round, and before others that are due as long.
ALTER TABLE hostnames ADD COLUMN prompt INTEGER NOT NULL DEFAULT 0 CHECK (prompt IN (0, 1));
CREATE INDEX hostnames_prompt ON hostnames (due_at, id, operator) WHERE state = 'watched' AND prompt = 1;
