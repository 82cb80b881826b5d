-- Mails to those who run a paper: webhooks were switched off.
CREATE TABLE notices (
  id TEXT PRIMARY KEY,
  paper TEXT NOT NULL,
  email TEXT NOT NULL,
  -- It tells of what was switched off from then on.
  since INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  lease INTEGER,
  state TEXT NOT NULL CHECK (state IN ('due', 'sent', 'failed')),
  attempts INTEGER NOT NULL DEFAULT 0,
  settled_at INTEGER,
  error TEXT
) STRICT;
-- One that nobody has begun to send tells all that comes until then.
CREATE UNIQUE INDEX notices_gather ON notices (paper, email) WHERE state = 'due' AND attempts = 0;
CREATE INDEX notices_due ON notices (due_at, id) WHERE state = 'due';
CREATE INDEX notices_settled ON notices (settled_at) WHERE settled_at IS NOT NULL;
