-- Observations whose derived rows an older version cut at U+0000, as an operator accepted them.
CREATE TABLE damaged_observations (
  seq INTEGER PRIMARY KEY REFERENCES observations,
  at INTEGER NOT NULL,
  reason TEXT NOT NULL
) STRICT;
CREATE TRIGGER damaged_observations_kept BEFORE DELETE ON damaged_observations
  BEGIN SELECT RAISE(ABORT, 'damaged_observations is append-only'); END;
CREATE TRIGGER damaged_observations_fixed BEFORE UPDATE ON damaged_observations
  BEGIN SELECT RAISE(ABORT, 'damaged_observations is append-only'); END;
-- REPLACE deletes without asking the triggers above.
CREATE TRIGGER damaged_observations_once BEFORE INSERT ON damaged_observations
  WHEN EXISTS (SELECT 1 FROM damaged_observations WHERE seq = NEW.seq)
  BEGIN SELECT RAISE(ABORT, 'damaged_observations is append-only'); END;
