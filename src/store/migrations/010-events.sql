-- What readers are to be told of, in the order in which it happened: written in
-- the transaction that changed what they see, and forgotten after a while.
CREATE TABLE events (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  -- A lower-case ULID; deliveries carry it as their webhook-id.
  id TEXT NOT NULL UNIQUE,
  paper TEXT NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('story.aired', 'story.revised', 'story.withdrawn', 'cast.published')),
  -- The piece and its revision, or the day of a video edition.
  piece TEXT,
  revision INTEGER,
  day TEXT,
  -- When readers began to see it, in ms.
  at INTEGER NOT NULL,
  -- What it tells, as JSON.
  told TEXT NOT NULL
) STRICT;
CREATE INDEX events_by_age ON events (at);

-- How far each of those who tell has come: the last event that it is through
-- with, and of the next one the last receiver.
CREATE TABLE event_marks (
  name TEXT PRIMARY KEY,
  n INTEGER NOT NULL,
  after TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO event_marks (name, n, after) VALUES ('webhooks', 0, '');
