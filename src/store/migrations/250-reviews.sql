-- Records gain a kind: the review of a piece, a signed note. SQLite cannot change a CHECK, so the table is written again,
-- row for row. Two triggers of other tables read it, and are made again as they were.
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
  kind TEXT NOT NULL
    CHECK (kind IN ('paper', 'persona', 'cast', 'media', 'page', 'front', 'signing-name', 'clock', 'review')),
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

-- Whether an agent filed the revision while its paper required that a person approves it.
ALTER TABLE generations ADD COLUMN needs_review INTEGER NOT NULL DEFAULT 0 CHECK (needs_review IN (0, 1));
-- Of the newest revision: whether it needs a review and has none, its approval, and what its desk asked to be changed,
-- which is no part of the ledger.
ALTER TABLE pieces ADD COLUMN awaits_review INTEGER NOT NULL DEFAULT 0 CHECK (awaits_review IN (0, 1));
ALTER TABLE pieces ADD COLUMN reviewed_by TEXT;
ALTER TABLE pieces ADD COLUMN change_request TEXT;
CREATE INDEX pieces_awaiting_review ON pieces (paper, id) WHERE awaits_review = 1;
-- A piece that waits is not due.
DROP INDEX pieces_scheduled;
CREATE INDEX pieces_scheduled ON pieces (scheduled_at) WHERE state = 'scheduled' AND awaits_review = 0;
