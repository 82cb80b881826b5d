-- Media files that the ledger names and DATA_DIR does not hold whole.

CREATE TABLE missing_media (
  digest TEXT PRIMARY KEY,
  -- Size and time of the damaged file; null when there is no file.
  damaged TEXT,
  -- When it was noticed, in ms.
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
