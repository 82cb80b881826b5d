-- Clients that registered themselves to sign in for a seat (RFC 7591). They are of no paper, and have no secret.
CREATE TABLE oauth_clients (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  redirect_uris TEXT NOT NULL,
  -- The network that registered it, which is counted.
  network TEXT NOT NULL,
  made_at INTEGER NOT NULL
) STRICT;
CREATE INDEX oauth_clients_by_network ON oauth_clients (network, made_at);
CREATE INDEX oauth_clients_by_age ON oauth_clients (made_at);

-- What a seat allowed a client: first a code, then an access key, for which tokens stand. Only hashes are kept.
CREATE TABLE oauth_grants (
  code TEXT PRIMARY KEY,
  client TEXT NOT NULL,
  client_name TEXT NOT NULL,
  paper TEXT NOT NULL,
  -- The key of the seat that allowed it, and with which it ends.
  seat TEXT NOT NULL REFERENCES keys (id),
  level TEXT NOT NULL CHECK (level IN ('read', 'agent')),
  persona TEXT,
  redirect_uri TEXT NOT NULL,
  -- PKCE (RFC 7636).
  challenge TEXT NOT NULL,
  made_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  -- Null until the code is exchanged.
  key TEXT UNIQUE REFERENCES keys (id),
  access TEXT UNIQUE,
  access_expires_at INTEGER,
  -- The constant part of the refresh token, and the part that each refresh replaces.
  refresh TEXT UNIQUE,
  rotation TEXT,
  refresh_expires_at INTEGER
) STRICT;
CREATE INDEX oauth_grants_by_seat ON oauth_grants (seat);
CREATE INDEX oauth_grants_by_client ON oauth_grants (client);
