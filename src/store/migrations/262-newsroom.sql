-- A desk's own webhooks may be paused, and a new secret signs beside the old one for a while.
ALTER TABLE webhooks ADD COLUMN paused_at INTEGER;
ALTER TABLE webhooks ADD COLUMN succeeded_at INTEGER;
ALTER TABLE webhooks ADD COLUMN failed_at INTEGER;
ALTER TABLE webhooks ADD COLUMN old_secret TEXT;
ALTER TABLE webhooks ADD COLUMN old_secret_until INTEGER;

-- How many readers confirmed, and how many who had confirmed left, on each UTC day. No row says who.
CREATE TABLE reader_days (
  paper TEXT NOT NULL,
  day TEXT NOT NULL,
  confirmed INTEGER NOT NULL,
  gone INTEGER NOT NULL,
  PRIMARY KEY (paper, day)
) STRICT, WITHOUT ROWID;
-- Of the past, those are known who are readers today.
INSERT INTO reader_days
  SELECT paper, strftime('%Y-%m-%d', confirmed_at / 1000, 'unixepoch') AS day, count(*), 0
  FROM subscribers WHERE confirmed_at IS NOT NULL GROUP BY paper, day;
CREATE TRIGGER subscribers_confirmed AFTER UPDATE OF confirmed_at ON subscribers
WHEN OLD.confirmed_at IS NULL AND NEW.confirmed_at IS NOT NULL
BEGIN
  INSERT INTO reader_days VALUES (NEW.paper, strftime('%Y-%m-%d', NEW.confirmed_at / 1000, 'unixepoch'), 1, 0)
    ON CONFLICT (paper, day) DO UPDATE SET confirmed = confirmed + 1;
END;
-- What a search for a part of an address reads, in the order of the list.
CREATE INDEX subscribers_addresses ON subscribers (paper, id, email, confirmed_at);

-- How often pages were read: sums of a UTC day, and nothing about readers.
CREATE TABLE page_counts (
  paper TEXT NOT NULL,
  day TEXT NOT NULL,
  kind TEXT NOT NULL,
  -- A piece's id, the name that an address of the kind has, or empty.
  page TEXT NOT NULL,
  reads INTEGER NOT NULL,
  PRIMARY KEY (paper, day, kind, page)
) STRICT, WITHOUT ROWID;
