-- Who reads the domain records with an account. Mail addresses are in lower case; times in ms.
CREATE TABLE accounts (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL UNIQUE,
  plan TEXT NOT NULL CHECK (plan IN ('daily', 'monthly')),
  made_at INTEGER NOT NULL
) STRICT;

-- Keys of the domain records: only their hash is kept. A key of an account has its id, the others have none.
CREATE TABLE service_keys (
  id TEXT PRIMARY KEY,
  account TEXT REFERENCES accounts (id) ON DELETE CASCADE,
  level TEXT NOT NULL CHECK (level IN ('account', 'operator', 'service', 'scanner')),
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  made_at INTEGER NOT NULL,
  used_at INTEGER,
  revoked_at INTEGER,
  CHECK ((level = 'account') = (account IS NOT NULL))
) STRICT;

CREATE INDEX service_keys_of_account ON service_keys (account, made_at, id);
