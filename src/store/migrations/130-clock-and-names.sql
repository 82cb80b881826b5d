-- Records gain two kinds: names under which a key signs, and corrections of the clock. SQLite cannot change a CHECK, so
-- the table is written again, row for row.
DROP TRIGGER records_kept;
DROP TRIGGER records_fixed;
DROP INDEX records_by_name;
ALTER TABLE records RENAME TO records_before;
CREATE TABLE records (
  n INTEGER PRIMARY KEY REFERENCES entries,
  -- Empty for what is true of a whole service.
  paper TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('paper', 'persona', 'cast', 'media', 'page', 'front', 'signing-name', 'clock')),
  name TEXT NOT NULL,
  body TEXT NOT NULL
) STRICT;
INSERT INTO records SELECT n, paper, kind, name, body FROM records_before;
DROP TABLE records_before;
CREATE INDEX records_by_name ON records (paper, kind, name, n);
CREATE TRIGGER records_kept BEFORE DELETE ON records BEGIN SELECT RAISE(ABORT, 'records is append-only'); END;
CREATE TRIGGER records_fixed BEFORE UPDATE ON records BEGIN SELECT RAISE(ABORT, 'records is append-only'); END;
