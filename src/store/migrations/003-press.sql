-- The press: what it owes, and what it has put on disk.

-- A row stays until the files that read the tag are on disk.
CREATE TABLE press_due (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  paper TEXT NOT NULL,
  tag TEXT NOT NULL
) STRICT;

-- The manifest: each file of a pressed tree. `tags` are what it read, parted by spaces.
CREATE TABLE files (
  paper TEXT NOT NULL,
  path TEXT NOT NULL,
  digest TEXT NOT NULL,
  tags TEXT NOT NULL,
  PRIMARY KEY (paper, path)
) STRICT, WITHOUT ROWID;

-- The manifest turned round: which files read a tag.
CREATE TABLE reads (
  paper TEXT NOT NULL,
  tag TEXT NOT NULL,
  path TEXT NOT NULL,
  PRIMARY KEY (paper, tag, path)
) STRICT, WITHOUT ROWID;

-- What a paper's tree was pressed with, and who presses it now.
CREATE TABLE presses (
  paper TEXT PRIMARY KEY,
  -- The renderer and the root address; another one makes every file due.
  stamp TEXT NOT NULL DEFAULT '',
  owner TEXT,
  owned_until INTEGER
) STRICT;
