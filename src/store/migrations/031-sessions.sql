-- Mailed links that sign in, by the SHA-256 of their token. The id is that of the mail; times in ms.
CREATE TABLE sign_ins (
  id TEXT PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  -- In lower case. There may be no account of it yet, and never one.
  email TEXT NOT NULL,
  made_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT;
CREATE INDEX sign_ins_by_email ON sign_ins (email, made_at);
CREATE INDEX sign_ins_by_end ON sign_ins (expires_at);

-- Browsers that are signed in, by the SHA-256 of what their cookie holds.
CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  account TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  made_at INTEGER NOT NULL,
  -- Noted now and then, not at every request.
  seen_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX sessions_of_account ON sessions (account, id);
CREATE INDEX sessions_by_end ON sessions (expires_at);

-- Mails to accounts, and to those who ask to sign in. A claim moves due_at to
-- the end of its lease, as in 008-readers.sql.
CREATE TABLE account_mails (
  id TEXT PRIMARY KEY,
  -- Null for a mail to sign in, which may be the first that is heard of its address.
  account TEXT REFERENCES accounts (id) ON DELETE CASCADE,
  email TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('sign-in', 'changes', 'digest')),
  due_at INTEGER NOT NULL,
  lease INTEGER,
  state TEXT NOT NULL CHECK (state IN ('due', 'sent', 'failed')),
  attempts INTEGER NOT NULL DEFAULT 0,
  settled_at INTEGER,
  error TEXT
) STRICT;
CREATE INDEX account_mails_due ON account_mails (due_at, id) WHERE state = 'due';
CREATE INDEX account_mails_of_account ON account_mails (account, id);
CREATE INDEX account_mails_by_email ON account_mails (email);
CREATE INDEX account_mails_settled ON account_mails (settled_at) WHERE settled_at IS NOT NULL;
