-- Of a mail that tells: the events it tells of, as a JSON list of their places.
ALTER TABLE mails ADD COLUMN events TEXT;
-- Until when the one who took it has it alone; null when nobody has.
ALTER TABLE mails ADD COLUMN lease INTEGER;
-- Who asks to confirm waits at a screen: these go before all alerts.
CREATE INDEX mails_confirming ON mails (due_at, id) WHERE state = 'due' AND kind = 'confirm';
CREATE INDEX mails_taken ON mails (lease) WHERE lease IS NOT NULL;
CREATE INDEX mails_settled ON mails (settled_at) WHERE settled_at IS NOT NULL;

-- The last event that digests are through with for this reader; null before the first digest.
ALTER TABLE subscribers ADD COLUMN through INTEGER;
-- 1 when a digest is due once more, though the reader is told at once from now on.
ALTER TABLE subscribers ADD COLUMN owed INTEGER NOT NULL DEFAULT 0 CHECK (owed IN (0, 1));
CREATE INDEX subscribers_owed ON subscribers (paper, id) WHERE owed = 1;
-- However a reader changes over: what the next digest would have told must not fall between.
CREATE TRIGGER subscribers_owe_a_digest AFTER UPDATE OF cadence ON subscribers
WHEN OLD.cadence <> 'instant' AND NEW.cadence = 'instant' AND OLD.confirmed_at IS NOT NULL
BEGIN
  UPDATE subscribers SET owed = 1 WHERE id = NEW.id;
END;

-- What happened before there were mails is told to nobody.
INSERT INTO event_marks (name, n, after) SELECT 'mails', coalesce(max(n), 0), '' FROM events;
-- Whether a piece, or the edition of a day, was told of before.
CREATE INDEX events_by_matter ON events (paper, type, piece, day);

-- When each paper's digests are due, and how far the one under way has come.
CREATE TABLE digests (
  paper TEXT NOT NULL,
  cadence TEXT NOT NULL CHECK (cadence IN ('daily', 'weekly')),
  -- The hour and the zone that due_at was reckoned with.
  hour INTEGER NOT NULL,
  time_zone TEXT NOT NULL,
  due_at INTEGER NOT NULL,
  -- Of the one under way: the day that it is of, the last event that it may tell, the last reader who is through.
  day TEXT,
  until INTEGER,
  after TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (paper, cadence),
  CHECK ((day IS NULL) = (until IS NULL))
) STRICT, WITHOUT ROWID;

-- Work that one process does at a time, and until when it is that one's.
CREATE TABLE duties (
  name TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
