-- An account may pause an alert, test its mails, and tell its sessions apart.

-- When the account paused it, in ms; null while it is not paused.
ALTER TABLE change_alerts ADD COLUMN paused_at INTEGER;
-- When it was last switched on again, in ms: changes before that are not sent, even if they are matched later.
ALTER TABLE change_alerts ADD COLUMN on_since INTEGER;

-- The browser and its system in words, such as `Firefox on Linux`; null for one that is not known.
ALTER TABLE sessions ADD COLUMN browser TEXT;

-- The kind `test` is new; SQLite changes no CHECK in place.
CREATE TABLE account_mails_next (
  id TEXT PRIMARY KEY,
  -- Null for a mail to sign in, which may be the first that is heard of its address.
  account TEXT REFERENCES accounts (id) ON DELETE CASCADE,
  email TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('sign-in', 'changes', 'digest', 'test')),
  due_at INTEGER NOT NULL,
  lease INTEGER,
  state TEXT NOT NULL CHECK (state IN ('due', 'sent', 'failed')),
  attempts INTEGER NOT NULL DEFAULT 0,
  settled_at INTEGER,
  error TEXT
) STRICT;
INSERT INTO account_mails_next (id, account, email, kind, due_at, lease, state, attempts, settled_at, error)
  SELECT id, account, email, kind, due_at, lease, state, attempts, settled_at, error FROM account_mails;
DROP TABLE account_mails;
ALTER TABLE account_mails_next RENAME TO account_mails;
CREATE INDEX account_mails_due ON account_mails (due_at, id) WHERE state = 'due';
CREATE INDEX account_mails_of_account ON account_mails (account, id);
CREATE INDEX account_mails_by_email ON account_mails (email);
CREATE INDEX account_mails_settled ON account_mails (settled_at) WHERE settled_at IS NOT NULL;
