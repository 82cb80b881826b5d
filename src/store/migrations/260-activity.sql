-- Who changed what of a paper, when, and from where. Written in the transaction of the change; the ledger stays the truth.
CREATE TABLE activity (
  -- A lower-case ULID.
  id TEXT PRIMARY KEY,
  paper TEXT NOT NULL,
  at INTEGER NOT NULL,
  -- The id of an access key, `cli` or `folder`.
  who TEXT NOT NULL,
  action TEXT NOT NULL,
  -- 1 for what the filing door refused: nothing was changed.
  refused INTEGER NOT NULL CHECK (refused IN (0, 1)),
  -- What it is about: its kind, its id and, unless the kind has tables of its own, its slug and title.
  kind TEXT,
  subject TEXT,
  slug TEXT,
  title TEXT,
  -- By which way it came, and from which network, an IPv4 /24 or an IPv6 /48.
  way TEXT NOT NULL CHECK (way IN ('api', 'console', 'mcp', 'cli', 'folder')),
  network TEXT,
  -- A JSON object.
  detail TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX activity_by_time ON activity (paper, at);
CREATE INDEX activity_by_who ON activity (paper, who, at);
CREATE INDEX activity_by_action ON activity (paper, action, at);
CREATE INDEX activity_by_subject ON activity (paper, subject, at) WHERE subject IS NOT NULL;
-- Filings that the door refused have headlines here, because they name no piece.
CREATE INDEX activity_headlines ON activity (paper, title) WHERE kind = 'piece' AND title IS NOT NULL;
CREATE INDEX activity_slugs ON activity (paper, slug) WHERE kind = 'piece' AND slug IS NOT NULL;

-- Up to when rows were removed because of their age. Only those may be.
CREATE TABLE activity_pruned (
  until INTEGER PRIMARY KEY
) STRICT;
CREATE TRIGGER activity_kept BEFORE DELETE ON activity
WHEN NOT EXISTS (SELECT 1 FROM activity_pruned WHERE until >= OLD.at)
  BEGIN SELECT RAISE(ABORT, 'activity is append-only'); END;
-- A slug or title may be erased when the headline of a piece is withheld, and nothing else may change.
CREATE TRIGGER activity_fixed BEFORE UPDATE ON activity
WHEN (NEW.slug IS NOT NULL AND NEW.slug IS NOT OLD.slug) OR (NEW.title IS NOT NULL AND NEW.title IS NOT OLD.title)
  OR NEW.id IS NOT OLD.id OR NEW.paper IS NOT OLD.paper OR NEW.at IS NOT OLD.at OR NEW.who IS NOT OLD.who
  OR NEW.action IS NOT OLD.action OR NEW.refused IS NOT OLD.refused OR NEW.kind IS NOT OLD.kind
  OR NEW.subject IS NOT OLD.subject OR NEW.way IS NOT OLD.way OR NEW.network IS NOT OLD.network
  OR NEW.detail IS NOT OLD.detail
  BEGIN SELECT RAISE(ABORT, 'activity is append-only'); END;

CREATE TRIGGER activity_withheld AFTER UPDATE OF headline_withheld ON pieces
WHEN NEW.headline_withheld = 1 AND OLD.headline_withheld = 0
BEGIN
  UPDATE activity SET slug = NULL, title = NULL WHERE kind = 'piece' AND paper = NEW.paper AND slug = NEW.slug;
  UPDATE activity SET slug = NULL, title = NULL
  WHERE kind = 'piece' AND paper = NEW.paper AND title IN (SELECT headline FROM generations WHERE piece = NEW.id);
END;

-- What each access key has done, so that lists of keys count no rows.
CREATE TABLE key_work (
  key TEXT PRIMARY KEY REFERENCES keys (id),
  -- Pieces and revisions that it filed.
  filed INTEGER NOT NULL,
  -- Filings that the door refused, listed or only counted.
  refused INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  -- The hour of the last refusal, in hours since 1970, and how many there were in it.
  hour INTEGER NOT NULL,
  refused_in_hour INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO key_work
  SELECT k.id, count(*), 0, max(e.at), 0, 0
  FROM generations g JOIN entries e ON e.n = g.n JOIN keys k ON k.id = substr(g.filed_by, 5)
  WHERE g.filed_by LIKE 'key:%' GROUP BY k.id;

-- What keys filed; commands and folders file as 'cli'.
CREATE INDEX generations_by_key ON generations (filed_by, piece) WHERE filed_by <> 'cli';

-- A paused key may read, and not write.
ALTER TABLE keys ADD COLUMN paused_at INTEGER;
-- `cli`, or `key:<id>`.
ALTER TABLE keys ADD COLUMN paused_by TEXT;
