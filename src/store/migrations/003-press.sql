-- The press: what it owes, and what it has put on disk.

-- A row stays until the files that read the tag are on disk.
CREATE TABLE press_due (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  paper TEXT NOT NULL,
  tag TEXT NOT NULL,
  -- Owed again, a tag moves to the end: a press that began before must not strike it out.
  UNIQUE (paper, tag)
) STRICT;
CREATE INDEX press_due_by_paper ON press_due (paper, id);

-- A sheet is what is printed in one go: a story's page, its Markdown twin and its cards are one.
-- `tags` are what it read, parted by newlines.
CREATE TABLE sheets (
  paper TEXT NOT NULL,
  sheet TEXT NOT NULL,
  tags TEXT NOT NULL,
  PRIMARY KEY (paper, sheet)
) STRICT, WITHOUT ROWID;

-- The same turned round: which sheets read a tag.
CREATE TABLE reads (
  paper TEXT NOT NULL,
  tag TEXT NOT NULL,
  sheet TEXT NOT NULL,
  PRIMARY KEY (paper, tag, sheet)
) STRICT, WITHOUT ROWID;

-- The manifest: each file of the pressed tree.
CREATE TABLE files (
  paper TEXT NOT NULL,
  sheet TEXT NOT NULL,
  path TEXT NOT NULL,
  digest TEXT NOT NULL,
  PRIMARY KEY (paper, sheet, path)
) STRICT, WITHOUT ROWID;

-- What a paper's tree was pressed with, and who presses it now.
CREATE TABLE presses (
  paper TEXT PRIMARY KEY,
  -- The renderer and the root address; another one makes every file due.
  stamp TEXT NOT NULL DEFAULT '',
  owner TEXT,
  owned_until INTEGER
) STRICT;
