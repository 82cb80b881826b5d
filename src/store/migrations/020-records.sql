-- Domain records: hostnames under watch, what each look at them saw, and what changed.

CREATE TABLE hostnames (
  id INTEGER PRIMARY KEY,
  -- In A-labels.
  hostname TEXT NOT NULL UNIQUE,
  unicode TEXT NOT NULL,
  -- The labels from the right, `com.example.www`: what is below a name stands together.
  path TEXT NOT NULL,
  registrable_domain TEXT,
  state TEXT NOT NULL CHECK (state IN ('watched', 'paused', 'opted_out')),
  added_at INTEGER NOT NULL,
  -- The queue. A lease moves due_at to its end: a host whose scanner died is due again by itself.
  due_at INTEGER NOT NULL,
  lease TEXT,
  leased_by TEXT,
  -- Whose name servers are asked; a lease spreads over operators.
  operator TEXT NOT NULL,
  -- Looks in a row that learned nothing.
  failures INTEGER NOT NULL DEFAULT 0,
  looked_at INTEGER,
  -- The newest observation.
  seq INTEGER
) STRICT;
CREATE INDEX hostnames_due ON hostnames (due_at, id, operator) WHERE state = 'watched';
CREATE INDEX hostnames_leased ON hostnames (lease, hostname) WHERE lease IS NOT NULL;
CREATE INDEX hostnames_shown ON hostnames (hostname) WHERE state <> 'opted_out';
CREATE INDEX hostnames_by_path ON hostnames (path);
CREATE INDEX hostnames_by_look ON hostnames (looked_at) WHERE looked_at IS NOT NULL;

-- The labels of each hostname, to be searched by their beginnings; rowid is the hostname's id.
CREATE VIRTUAL TABLE hostname_labels USING fts5(labels, content = '', tokenize = "unicode61 tokenchars '-'", prefix = '2 3 4');

-- Names that are neither looked at nor shown, with every name below them.
CREATE TABLE opt_outs (
  hostname TEXT PRIMARY KEY,
  reason TEXT NOT NULL,
  at INTEGER NOT NULL,
  made_by TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The parts of records that stay the same from look to look, each once.
CREATE TABLE record_bodies (
  id INTEGER PRIMARY KEY,
  digest BLOB NOT NULL UNIQUE,
  body TEXT NOT NULL
) STRICT;

CREATE TABLE observations (
  -- Of the whole service, from 1, without gaps.
  seq INTEGER PRIMARY KEY,
  host INTEGER NOT NULL REFERENCES hostnames,
  observed_at INTEGER NOT NULL,
  body INTEGER NOT NULL REFERENCES record_bodies,
  -- The parts that change: for each signal, by name, its ttl, transport, rtt_ms and flags.
  circumstances TEXT NOT NULL,
  -- What the salts of the record's disclosures are made of.
  seed BLOB NOT NULL CHECK (length(seed) = 32),
  receipt TEXT NOT NULL,
  receipt_hash TEXT NOT NULL
) STRICT;
CREATE INDEX observations_by_host ON observations (host, observed_at, seq);

CREATE TABLE deltas (
  -- Of the whole service, from 1, without gaps: the id of an event in the stream.
  seq INTEGER PRIMARY KEY,
  host INTEGER NOT NULL REFERENCES hostnames,
  -- When it was entered; it rises with seq.
  at INTEGER NOT NULL,
  signal TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('added', 'removed', 'changed')),
  -- Lists of values, as JSON.
  "before" TEXT NOT NULL,
  "after" TEXT NOT NULL,
  observation INTEGER NOT NULL REFERENCES observations
) STRICT;
CREATE INDEX deltas_by_host ON deltas (host, seq);
CREATE INDEX deltas_by_time ON deltas (at, seq);
CREATE INDEX deltas_by_signal ON deltas (signal, seq);

CREATE TRIGGER record_bodies_kept BEFORE DELETE ON record_bodies BEGIN SELECT RAISE(ABORT, 'record_bodies is append-only'); END;
CREATE TRIGGER record_bodies_fixed BEFORE UPDATE ON record_bodies BEGIN SELECT RAISE(ABORT, 'record_bodies is append-only'); END;
CREATE TRIGGER observations_kept BEFORE DELETE ON observations BEGIN SELECT RAISE(ABORT, 'observations is append-only'); END;
CREATE TRIGGER observations_fixed BEFORE UPDATE ON observations BEGIN SELECT RAISE(ABORT, 'observations is append-only'); END;
CREATE TRIGGER deltas_kept BEFORE DELETE ON deltas BEGIN SELECT RAISE(ABORT, 'deltas is append-only'); END;
CREATE TRIGGER deltas_fixed BEFORE UPDATE ON deltas BEGIN SELECT RAISE(ABORT, 'deltas is append-only'); END;
CREATE TRIGGER opt_outs_kept BEFORE DELETE ON opt_outs BEGIN SELECT RAISE(ABORT, 'opt_outs is append-only'); END;
CREATE TRIGGER opt_outs_fixed BEFORE UPDATE ON opt_outs BEGIN SELECT RAISE(ABORT, 'opt_outs is append-only'); END;
CREATE TRIGGER hostnames_kept BEFORE DELETE ON hostnames BEGIN SELECT RAISE(ABORT, 'hostnames are kept; they may be paused'); END;
-- REPLACE deletes without asking the triggers above.
CREATE TRIGGER observations_once BEFORE INSERT ON observations WHEN EXISTS (SELECT 1 FROM observations WHERE seq = NEW.seq)
  BEGIN SELECT RAISE(ABORT, 'observations is append-only'); END;
CREATE TRIGGER deltas_once BEFORE INSERT ON deltas WHEN EXISTS (SELECT 1 FROM deltas WHERE seq = NEW.seq)
  BEGIN SELECT RAISE(ABORT, 'deltas is append-only'); END;

-- What follows from the observations.

-- The last known values of each signal, and which of them were missing once.
CREATE TABLE standing (
  host INTEGER NOT NULL REFERENCES hostnames,
  signal TEXT NOT NULL,
  "values" TEXT NOT NULL,
  missing TEXT NOT NULL,
  PRIMARY KEY (host, signal)
) STRICT, WITHOUT ROWID;

-- When each value was seen first and last, and in how many looks.
CREATE TABLE sightings (
  host INTEGER NOT NULL REFERENCES hostnames,
  signal TEXT NOT NULL,
  value TEXT NOT NULL,
  first_seen INTEGER NOT NULL,
  last_seen INTEGER NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (host, signal, value)
) STRICT, WITHOUT ROWID;
-- Who else has a value. Of long texts the beginning is enough to find them by.
CREATE INDEX sightings_by_value ON sightings (substr(value, 1, 64), host);

-- What shown hosts count for in lists and charts.
CREATE TABLE facets (
  host INTEGER NOT NULL REFERENCES hostnames,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (host, kind, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX facets_by_name ON facets (kind, name, host);

CREATE TABLE facet_counts (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX facet_counts_by_count ON facet_counts (kind, count DESC, name);

CREATE TRIGGER facets_counted AFTER INSERT ON facets BEGIN
  INSERT INTO facet_counts VALUES (NEW.kind, NEW.name, 1) ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER facets_uncounted AFTER DELETE ON facets BEGIN
  UPDATE facet_counts SET count = count - 1 WHERE kind = OLD.kind AND name = OLD.name;
  DELETE FROM facet_counts WHERE kind = OLD.kind AND name = OLD.name AND count = 0;
END;

-- How many hostnames are in each state.
CREATE TABLE hostname_counts (state TEXT PRIMARY KEY, count INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO hostname_counts VALUES ('watched', 0), ('paused', 0), ('opted_out', 0);
CREATE TRIGGER hostnames_counted AFTER INSERT ON hostnames BEGIN
  UPDATE hostname_counts SET count = count + 1 WHERE state = NEW.state;
END;
CREATE TRIGGER hostnames_moved AFTER UPDATE OF state ON hostnames BEGIN
  UPDATE hostname_counts SET count = count - 1 WHERE state = OLD.state;
  UPDATE hostname_counts SET count = count + 1 WHERE state = NEW.state;
END;

-- Shown deltas by UTC day.
CREATE TABLE change_counts (
  day TEXT NOT NULL,
  signal TEXT NOT NULL,
  kind TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (day, signal, kind)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER deltas_counted AFTER INSERT ON deltas BEGIN
  INSERT INTO change_counts VALUES (strftime('%Y-%m-%d', NEW.at / 1000, 'unixepoch'), NEW.signal, NEW.kind, 1)
    ON CONFLICT DO UPDATE SET count = count + 1;
END;
