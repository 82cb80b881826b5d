-- The ledger: what was said, in order, and never changed.

-- The spine: every entry of every kind, in the order in which it was made.
CREATE TABLE entries (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL CHECK (kind IN ('key', 'retirement', 'record', 'generation', 'airing', 'withdrawal')),
  at INTEGER NOT NULL
) STRICT;

-- Public keys of the filing door.
CREATE TABLE door_keys (
  n INTEGER PRIMARY KEY REFERENCES entries,
  kid TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  public_key TEXT NOT NULL
) STRICT;

CREATE TABLE retirements (
  n INTEGER PRIMARY KEY REFERENCES entries,
  kid TEXT NOT NULL UNIQUE REFERENCES door_keys (kid)
) STRICT;

-- Papers, personas, video editions and media, each time they were applied; body is their JSON.
CREATE TABLE records (
  n INTEGER PRIMARY KEY REFERENCES entries,
  paper TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('paper', 'persona', 'cast', 'media')),
  name TEXT NOT NULL,
  body TEXT NOT NULL
) STRICT;
CREATE INDEX records_by_name ON records (paper, kind, name, n);

CREATE TABLE generations (
  n INTEGER PRIMARY KEY REFERENCES entries,
  paper TEXT NOT NULL,
  piece TEXT NOT NULL,
  revision INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  slug TEXT NOT NULL,
  headline TEXT NOT NULL,
  dek TEXT NOT NULL,
  category TEXT NOT NULL,
  kind TEXT NOT NULL,
  persona TEXT NOT NULL,
  byline_name TEXT NOT NULL,
  byline_title TEXT NOT NULL,
  language TEXT NOT NULL,
  image TEXT,
  credit TEXT,
  correction TEXT,
  revised_at INTEGER,
  prose TEXT NOT NULL,
  cited_facts TEXT NOT NULL,
  content_hash TEXT NOT NULL,
  receipt TEXT NOT NULL,
  receipt_hash TEXT NOT NULL,
  filed_by TEXT NOT NULL,
  kid TEXT NOT NULL,
  UNIQUE (piece, revision),
  UNIQUE (paper, seq)
) STRICT;
CREATE INDEX generations_corrected ON generations (paper, n) WHERE correction IS NOT NULL;

-- A piece goes on air at `on_air_at`, which may lie before or after the entry.
CREATE TABLE airings (
  n INTEGER PRIMARY KEY REFERENCES entries,
  paper TEXT NOT NULL,
  piece TEXT NOT NULL,
  on_air_at INTEGER NOT NULL,
  made_by TEXT NOT NULL
) STRICT;

CREATE TABLE withdrawals (
  n INTEGER PRIMARY KEY REFERENCES entries,
  paper TEXT NOT NULL,
  piece TEXT NOT NULL,
  reason TEXT NOT NULL,
  made_by TEXT NOT NULL
) STRICT;
CREATE INDEX withdrawals_by_paper ON withdrawals (paper, n);

CREATE TRIGGER entries_kept BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;
CREATE TRIGGER entries_fixed BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;
CREATE TRIGGER door_keys_kept BEFORE DELETE ON door_keys BEGIN SELECT RAISE(ABORT, 'door_keys is append-only'); END;
CREATE TRIGGER door_keys_fixed BEFORE UPDATE ON door_keys BEGIN SELECT RAISE(ABORT, 'door_keys is append-only'); END;
CREATE TRIGGER retirements_kept BEFORE DELETE ON retirements BEGIN SELECT RAISE(ABORT, 'retirements is append-only'); END;
CREATE TRIGGER retirements_fixed BEFORE UPDATE ON retirements BEGIN SELECT RAISE(ABORT, 'retirements is append-only'); END;
CREATE TRIGGER records_kept BEFORE DELETE ON records BEGIN SELECT RAISE(ABORT, 'records is append-only'); END;
CREATE TRIGGER records_fixed BEFORE UPDATE ON records BEGIN SELECT RAISE(ABORT, 'records is append-only'); END;
CREATE TRIGGER generations_kept BEFORE DELETE ON generations BEGIN SELECT RAISE(ABORT, 'generations is append-only'); END;
CREATE TRIGGER generations_fixed BEFORE UPDATE ON generations BEGIN SELECT RAISE(ABORT, 'generations is append-only'); END;
CREATE TRIGGER airings_kept BEFORE DELETE ON airings BEGIN SELECT RAISE(ABORT, 'airings is append-only'); END;
CREATE TRIGGER airings_fixed BEFORE UPDATE ON airings BEGIN SELECT RAISE(ABORT, 'airings is append-only'); END;
CREATE TRIGGER withdrawals_kept BEFORE DELETE ON withdrawals BEGIN SELECT RAISE(ABORT, 'withdrawals is append-only'); END;
CREATE TRIGGER withdrawals_fixed BEFORE UPDATE ON withdrawals BEGIN SELECT RAISE(ABORT, 'withdrawals is append-only'); END;
