-- Records gain two kinds, both signed notes: a version of a fact, and the evidence for one. SQLite cannot change a CHECK, so
-- the table is written again, row for row. Two triggers of other tables read it, and are made again as they were.
DROP TRIGGER observations_fixed;
DROP TRIGGER deltas_fixed;
DROP TRIGGER records_kept;
DROP TRIGGER records_fixed;
DROP INDEX records_by_name;
ALTER TABLE records RENAME TO records_before;
CREATE TABLE records (
  n INTEGER PRIMARY KEY REFERENCES entries,
  -- Empty for what is true of a whole service.
  paper TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('paper', 'persona', 'cast', 'media', 'page', 'front', 'signing-name', 'clock', 'review',
    'fact', 'evidence')),
  name TEXT NOT NULL,
  body TEXT NOT NULL
) STRICT;
INSERT INTO records SELECT n, paper, kind, name, body FROM records_before;
DROP TABLE records_before;
CREATE INDEX records_by_name ON records (paper, kind, name, n);
CREATE TRIGGER records_kept BEFORE DELETE ON records BEGIN SELECT RAISE(ABORT, 'records is append-only'); END;
CREATE TRIGGER records_fixed BEFORE UPDATE ON records BEGIN SELECT RAISE(ABORT, 'records is append-only'); END;
CREATE TRIGGER observations_fixed BEFORE UPDATE ON observations
  WHEN NEW.seq IS NOT OLD.seq OR NEW.host IS NOT OLD.host OR NEW.body IS NOT OLD.body
    OR NEW.circumstances IS NOT OLD.circumstances OR NEW.seed IS NOT OLD.seed OR NEW.receipt IS NOT OLD.receipt
    OR NEW.receipt_hash IS NOT OLD.receipt_hash OR NEW.signed_at IS NOT coalesce(OLD.signed_at, OLD.observed_at)
    OR NEW.observed_at >= OLD.observed_at
    OR NOT EXISTS (SELECT 1 FROM records WHERE paper = '' AND kind = 'clock' AND name = 'records')
  BEGIN SELECT RAISE(ABORT, 'observations is append-only'); END;
CREATE TRIGGER deltas_fixed BEFORE UPDATE ON deltas
  WHEN NEW.seq IS NOT OLD.seq OR NEW.host IS NOT OLD.host OR NEW.signal IS NOT OLD.signal OR NEW.kind IS NOT OLD.kind
    OR NEW."before" IS NOT OLD."before" OR NEW."after" IS NOT OLD."after" OR NEW.observation IS NOT OLD.observation
    OR NEW.at >= OLD.at
    OR NOT EXISTS (SELECT 1 FROM records WHERE paper = '' AND kind = 'clock' AND name = 'records')
  BEGIN SELECT RAISE(ABORT, 'deltas is append-only'); END;

-- The number of a paper's newest version of any fact.
ALTER TABLE papers ADD COLUMN fact_seq INTEGER NOT NULL DEFAULT 0;

-- The newest version of each fact, derived from the ledger; the versions themselves are records.
CREATE TABLE facts (
  id INTEGER PRIMARY KEY,
  paper TEXT NOT NULL,
  claim_key TEXT NOT NULL,
  version INTEGER NOT NULL,
  -- The newest version whose status is corrected; 0 without one.
  corrected INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('standing', 'corrected', 'retracted')),
  statement TEXT NOT NULL,
  source TEXT NOT NULL,
  instrument TEXT NOT NULL,
  quote TEXT,
  note TEXT,
  signed_at INTEGER NOT NULL,
  -- The publisher, in the form in which publishers are compared.
  publisher TEXT NOT NULL,
  -- How many pieces on air cite it, whatever the version.
  cited INTEGER NOT NULL DEFAULT 0,
  UNIQUE (paper, claim_key)
) STRICT;
-- Lists, newest first: of the desk, and of what readers see.
CREATE INDEX facts_by_paper ON facts (paper, id);
CREATE INDEX facts_cited ON facts (paper, id) WHERE cited > 0;
CREATE INDEX facts_by_publisher ON facts (paper, publisher, id);
CREATE INDEX facts_by_status ON facts (paper, status, id);
CREATE INDEX facts_by_instrument ON facts (paper, instrument);
-- The words of statements, publishers and documents; row ids are those of facts.
CREATE VIRTUAL TABLE fact_words USING fts5 (
  words, content = '', contentless_delete = 1, tokenize = 'ascii', prefix = '1 2 3'
);

-- The facts that the newest revision of each piece cites, each in the version that was the newest when it was filed.
CREATE TABLE fact_citations (
  paper TEXT NOT NULL,
  claim_key TEXT NOT NULL,
  piece TEXT NOT NULL,
  version INTEGER NOT NULL,
  on_air INTEGER NOT NULL CHECK (on_air IN (0, 1)),
  PRIMARY KEY (paper, claim_key, piece)
) STRICT, WITHOUT ROWID;
CREATE INDEX fact_citations_by_piece ON fact_citations (piece);
CREATE INDEX fact_citations_old ON fact_citations (paper, claim_key, version);
CREATE TRIGGER fact_citations_arrive AFTER INSERT ON fact_citations WHEN new.on_air = 1 BEGIN
  UPDATE facts SET cited = cited + 1 WHERE paper = new.paper AND claim_key = new.claim_key;
END;
CREATE TRIGGER fact_citations_leave AFTER DELETE ON fact_citations WHEN old.on_air = 1 BEGIN
  UPDATE facts SET cited = cited - 1 WHERE paper = old.paper AND claim_key = old.claim_key;
END;
CREATE TRIGGER fact_citations_air AFTER UPDATE OF on_air ON fact_citations WHEN new.on_air <> old.on_air BEGIN
  UPDATE facts SET cited = cited + new.on_air - old.on_air WHERE paper = new.paper AND claim_key = new.claim_key;
END;

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
    CHECK (type IN ('story.aired', 'story.revised', 'story.withdrawn', 'cast.published', 'fact.corrected')),
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
