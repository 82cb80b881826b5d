-- The kind `ownership` is new. The program alone says which kinds there are, so that the next one needs no other table.
CREATE TABLE account_mails_next (
  id TEXT PRIMARY KEY,
  -- Null for a mail to sign in, which may be the first that is heard of its address.
  account TEXT REFERENCES accounts (id) ON DELETE CASCADE,
  email TEXT NOT NULL,
  kind TEXT NOT NULL,
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
