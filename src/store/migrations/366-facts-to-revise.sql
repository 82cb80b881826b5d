-- The state of a fact's evidence that receivers of webhooks were told, when it was one after which to revise the fact.
ALTER TABLE evidence ADD COLUMN told TEXT;

-- Events gain a type. Their numbers go on from where they were, also where the newest were deleted.
DROP INDEX events_by_age;
DROP INDEX events_by_matter;
ALTER TABLE events RENAME TO events_before;
CREATE TABLE events (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  -- A lower-case ULID; deliveries carry it as their webhook-id.
  id TEXT NOT NULL UNIQUE,
  paper TEXT NOT NULL,
  type TEXT NOT NULL
    CHECK (type IN ('story.aired', 'story.revised', 'story.withdrawn', 'cast.published', 'fact.corrected', 'fact.to_revise')),
  -- The piece and its revision, or the day of a video edition.
  piece TEXT,
  revision INTEGER,
  day TEXT,
  -- When readers began to see it, in ms.
  at INTEGER NOT NULL,
  -- What it tells, as JSON.
  told TEXT NOT NULL
) STRICT;
INSERT INTO events SELECT n, id, paper, type, piece, revision, day, at, told FROM events_before;
DELETE FROM sqlite_sequence WHERE name = 'events';
UPDATE sqlite_sequence SET name = 'events' WHERE name = 'events_before';
DROP TABLE events_before;
CREATE INDEX events_by_age ON events (at);
CREATE INDEX events_by_matter ON events (paper, type, piece, day);
