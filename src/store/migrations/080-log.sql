-- The transparency logs: one of the desk, one of the domain records.

-- Every leaf, from index 0 without gaps.
CREATE TABLE log_leaves (
  log TEXT NOT NULL CHECK (log IN ('desk', 'records')),
  leaf_index INTEGER NOT NULL CHECK (leaf_index >= 0),
  -- RFC 6962: SHA-256 of a zero byte and the entry.
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  entry TEXT NOT NULL,
  PRIMARY KEY (log, leaf_index),
  UNIQUE (log, hash)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER log_leaves_gapless BEFORE INSERT ON log_leaves
  WHEN NEW.leaf_index <> (SELECT coalesce(max(leaf_index), -1) + 1 FROM log_leaves WHERE log = NEW.log)
  BEGIN SELECT RAISE(ABORT, 'log_leaves has no gaps'); END;
CREATE TRIGGER log_leaves_kept BEFORE DELETE ON log_leaves BEGIN SELECT RAISE(ABORT, 'log_leaves is append-only'); END;
CREATE TRIGGER log_leaves_fixed BEFORE UPDATE ON log_leaves BEGIN SELECT RAISE(ABORT, 'log_leaves is append-only'); END;

-- The roots of full tiles: the hashes of level 1 and above.
CREATE TABLE log_nodes (
  log TEXT NOT NULL CHECK (log IN ('desk', 'records')),
  level INTEGER NOT NULL CHECK (level >= 1),
  node_index INTEGER NOT NULL CHECK (node_index >= 0),
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  PRIMARY KEY (log, level, node_index)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER log_nodes_kept BEFORE DELETE ON log_nodes BEGIN SELECT RAISE(ABORT, 'log_nodes is append-only'); END;
CREATE TRIGGER log_nodes_fixed BEFORE UPDATE ON log_nodes BEGIN SELECT RAISE(ABORT, 'log_nodes is append-only'); END;

CREATE TABLE log_heads (
  log TEXT NOT NULL CHECK (log IN ('desk', 'records')),
  number INTEGER NOT NULL CHECK (number >= 1),
  origin TEXT NOT NULL,
  size INTEGER NOT NULL CHECK (size >= 0),
  -- In ms.
  signed_at INTEGER NOT NULL,
  checkpoint TEXT NOT NULL,
  -- The checkpoint with the cosignatures that met the quorum: what proofs hold.
  cosigned TEXT,
  PRIMARY KEY (log, number),
  UNIQUE (log, origin, size)
) STRICT;
CREATE INDEX log_heads_cosigned ON log_heads (log, size, number) WHERE cosigned IS NOT NULL;
CREATE INDEX log_heads_newest ON log_heads (log, origin, size) WHERE cosigned IS NOT NULL;
-- A new origin may begin at the size of the last head.
CREATE TRIGGER log_heads_grow BEFORE INSERT ON log_heads
  WHEN NEW.size < (SELECT size FROM log_heads WHERE log = NEW.log ORDER BY number DESC LIMIT 1)
  BEGIN SELECT RAISE(ABORT, 'the heads of a log grow'); END;
CREATE TRIGGER log_heads_kept BEFORE DELETE ON log_heads BEGIN SELECT RAISE(ABORT, 'log_heads is append-only'); END;
CREATE TRIGGER log_heads_fixed BEFORE UPDATE ON log_heads
  WHEN OLD.cosigned IS NOT NULL OR NEW.log IS NOT OLD.log OR NEW.number IS NOT OLD.number OR NEW.origin IS NOT OLD.origin
    OR NEW.size IS NOT OLD.size OR NEW.signed_at IS NOT OLD.signed_at OR NEW.checkpoint IS NOT OLD.checkpoint
  BEGIN SELECT RAISE(ABORT, 'a head changes once, when its quorum is met'); END;

-- The first cosigned head over a leaf is the one that its proof names for ever.
CREATE TRIGGER log_heads_in_order BEFORE UPDATE ON log_heads
  WHEN EXISTS (SELECT 1 FROM log_heads WHERE log = NEW.log AND cosigned IS NOT NULL AND size >= NEW.size AND number > NEW.number)
  BEGIN SELECT RAISE(ABORT, 'a later head has met its quorum'); END;

CREATE TABLE log_cosignatures (
  log TEXT NOT NULL CHECK (log IN ('desk', 'records')),
  origin TEXT NOT NULL,
  size INTEGER NOT NULL,
  vkey TEXT NOT NULL,
  -- In seconds since 1970, as signed.
  time INTEGER NOT NULL,
  line TEXT NOT NULL,
  PRIMARY KEY (log, origin, size, vkey),
  FOREIGN KEY (log, origin, size) REFERENCES log_heads (log, origin, size)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER log_cosignatures_kept BEFORE DELETE ON log_cosignatures
  BEGIN SELECT RAISE(ABORT, 'log_cosignatures is append-only'); END;
CREATE TRIGGER log_cosignatures_fixed BEFORE UPDATE ON log_cosignatures
  BEGIN SELECT RAISE(ABORT, 'log_cosignatures is append-only'); END;

-- What is known of each witness. Times in ms.
CREATE TABLE log_witnesses (
  log TEXT NOT NULL CHECK (log IN ('desk', 'records')),
  origin TEXT NOT NULL,
  vkey TEXT NOT NULL,
  seen_size INTEGER NOT NULL,
  cosigned_size INTEGER,
  cosigned_at INTEGER,
  fault TEXT,
  fault_at INTEGER,
  failures INTEGER NOT NULL,
  next_at INTEGER NOT NULL,
  PRIMARY KEY (log, origin, vkey)
) STRICT, WITHOUT ROWID;

CREATE TABLE log_state (
  log TEXT PRIMARY KEY CHECK (log IN ('desk', 'records')),
  -- Whether what was signed before there was a log has its leaves.
  filled INTEGER NOT NULL CHECK (filled IN (0, 1)),
  -- Why this copy must not sign; null when it may.
  fence TEXT
) STRICT, WITHOUT ROWID;
INSERT INTO log_state VALUES
  ('desk', (SELECT count(*) = 0 FROM (SELECT 1 FROM entries LIMIT 1)), NULL),
  ('records', (SELECT count(*) = 0 FROM (SELECT 1 FROM entries LIMIT 1)), NULL);
