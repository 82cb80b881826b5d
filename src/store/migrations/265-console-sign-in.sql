-- Signing in to a paper's console: no part of the ledger. Secrets are stored as their SHA-256 in hex; times in ms.

-- Browsers that are signed in, by the hash of what their cookie holds.
CREATE TABLE console_sessions (
  id TEXT PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  paper TEXT NOT NULL,
  -- The key for which the session stands.
  key TEXT NOT NULL REFERENCES keys (id) ON DELETE CASCADE,
  began TEXT NOT NULL CHECK (began IN ('key', 'mail', 'link', 'passkey', 'first')),
  made_at INTEGER NOT NULL,
  -- Noted now and then, not at every request.
  seen_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  -- As in `Firefox on Linux`.
  browser TEXT NOT NULL,
  network TEXT NOT NULL
) STRICT;
CREATE INDEX console_sessions_of_paper ON console_sessions (paper, id);
CREATE INDEX console_sessions_of_key ON console_sessions (key);
CREATE INDEX console_sessions_by_end ON console_sessions (expires_at);

-- Links that sign in once, by the hash of their token.
CREATE TABLE console_links (
  id TEXT PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  paper TEXT NOT NULL,
  -- `mail`: asked for by address. `link`: printed for an operator. `first`: printed for a paper that never had a seat.
  purpose TEXT NOT NULL CHECK (purpose IN ('mail', 'link', 'first')),
  -- Null for the first seat, and where no seat has the address that asked: such a link opens nothing.
  key TEXT REFERENCES keys (id) ON DELETE CASCADE,
  made_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT;
CREATE INDEX console_links_of_key ON console_links (key, made_at);
CREATE INDEX console_links_of_paper ON console_links (paper, purpose);
CREATE INDEX console_links_by_end ON console_links (expires_at);

-- Mails with such a link, whose id each has. A claim moves due_at to the end of its lease, as in 008-readers.sql.
CREATE TABLE console_mails (
  id TEXT PRIMARY KEY REFERENCES console_links (id) ON DELETE CASCADE,
  paper TEXT NOT NULL,
  due_at INTEGER NOT NULL,
  lease INTEGER,
  state TEXT NOT NULL CHECK (state IN ('due', 'sent', 'failed')),
  attempts INTEGER NOT NULL DEFAULT 0,
  settled_at INTEGER,
  error TEXT
) STRICT;
CREATE INDEX console_mails_due ON console_mails (due_at, id) WHERE state = 'due';

-- Passkeys (WebAuthn credentials). The id, in base64url, is the authenticator's own.
CREATE TABLE passkeys (
  id TEXT PRIMARY KEY,
  paper TEXT NOT NULL,
  key TEXT NOT NULL REFERENCES keys (id) ON DELETE CASCADE,
  -- The relying party: the host on which it was made, and signs in.
  host TEXT NOT NULL,
  name TEXT NOT NULL,
  algorithm TEXT NOT NULL,
  -- SubjectPublicKeyInfo, in base64url.
  public_key TEXT NOT NULL,
  -- How often it signed, as it said last; 0 where it does not count.
  counter INTEGER NOT NULL,
  -- A JSON list of words, as the browser gave it.
  transports TEXT NOT NULL,
  made_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT;
CREATE INDEX passkeys_of_key ON passkeys (key, id);

-- Challenges that no passkey has answered yet, by their hash.
CREATE TABLE passkey_challenges (
  hash TEXT PRIMARY KEY,
  paper TEXT NOT NULL,
  origin TEXT NOT NULL,
  -- The session that adds a passkey; null for signing in.
  session TEXT,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX passkey_challenges_by_end ON passkey_challenges (expires_at);
