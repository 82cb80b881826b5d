-- Access keys of a paper: only their hash is kept.
CREATE TABLE keys (
  id TEXT PRIMARY KEY,
  paper TEXT NOT NULL,
  level TEXT NOT NULL CHECK (level IN ('read', 'admin', 'agent')),
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  made_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT;

-- Files of the content folder as they were last applied.
CREATE TABLE applied (
  path TEXT PRIMARY KEY,
  digest TEXT NOT NULL
) STRICT;
