-- Where the pressed trees are published to, and what of each is not there yet.

-- One row for each target and tree. A tree is a paper, or `log` for the desk's transparency log.
CREATE TABLE publications (
  target TEXT NOT NULL,
  tree TEXT NOT NULL,
  -- The id of the last publication from this database, which the claim at the target names too; empty before the first.
  publication TEXT NOT NULL DEFAULT '',
  -- The paper's `_headers` with which its objects were sent.
  rules TEXT NOT NULL DEFAULT '',
  -- For a log, the size of the tree whose checkpoint was sent.
  size INTEGER NOT NULL DEFAULT 0,
  published_at INTEGER,
  -- The last failure since then.
  failed_at INTEGER,
  failure TEXT,
  PRIMARY KEY (target, tree)
) STRICT, WITHOUT ROWID;
CREATE INDEX publications_by_tree ON publications (tree);

-- The files of the manifest that changed or went since a target last got them. A row stays until the target has it.
CREATE TABLE unpublished (
  target TEXT NOT NULL,
  tree TEXT NOT NULL,
  sheet TEXT NOT NULL,
  path TEXT NOT NULL,
  -- Another one with each change, so that a file that changes while it is sent is sent again.
  mark INTEGER NOT NULL,
  -- 1 when the target does not have the file at all.
  added INTEGER NOT NULL,
  PRIMARY KEY (target, tree, sheet, path)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER files_added AFTER INSERT ON files BEGIN
  INSERT INTO unpublished (target, tree, sheet, path, mark, added)
    SELECT target, tree, NEW.sheet, NEW.path, random() >> 11, 1 FROM publications WHERE tree = NEW.paper
    ON CONFLICT DO UPDATE SET mark = excluded.mark;
END;
CREATE TRIGGER files_changed AFTER UPDATE OF digest ON files WHEN NEW.digest <> OLD.digest BEGIN
  INSERT INTO unpublished (target, tree, sheet, path, mark, added)
    SELECT target, tree, NEW.sheet, NEW.path, random() >> 11, 0 FROM publications WHERE tree = NEW.paper
    ON CONFLICT DO UPDATE SET mark = excluded.mark;
END;
CREATE TRIGGER files_removed AFTER DELETE ON files BEGIN
  INSERT INTO unpublished (target, tree, sheet, path, mark, added)
    SELECT target, tree, OLD.sheet, OLD.path, random() >> 11, 0 FROM publications WHERE tree = OLD.paper
    ON CONFLICT DO UPDATE SET mark = excluded.mark;
END;
