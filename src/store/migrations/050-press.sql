-- What a running press has taken on, and whether the tree is known to be what the manifest says.

-- The last number of press_due that the newest press took on: what is marked later is left to the next one.
ALTER TABLE presses ADD COLUMN taken INTEGER NOT NULL DEFAULT 0;
-- 1 from the start of a press to its end. Found at the start of the next one, it means that the
-- last press was broken off: files may be on disk that the manifest does not know.
ALTER TABLE presses ADD COLUMN dirty INTEGER NOT NULL DEFAULT 0;
-- A note of the press and the boot of the machine in which files were written that the disk may not have yet; NULL when it has all.
ALTER TABLE presses ADD COLUMN unsynced TEXT;

-- What each press changed, for whoever asks how a write was pressed. `until` is the last number that it took on.
CREATE TABLE press_runs (
  paper TEXT NOT NULL,
  until INTEGER NOT NULL,
  files INTEGER NOT NULL,
  PRIMARY KEY (paper, until)
) STRICT, WITHOUT ROWID;
