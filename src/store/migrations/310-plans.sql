-- Plans that the operator sells. Times in ms, prices in atomic units of the payment token: at most 10^9, as in payments.
CREATE TABLE plans (
  name TEXT PRIMARY KEY,
  daily INTEGER NOT NULL,
  per_minute INTEGER NOT NULL,
  watch INTEGER NOT NULL,
  streams INTEGER NOT NULL,
  exports INTEGER NOT NULL,
  price INTEGER NOT NULL,
  days INTEGER NOT NULL
) STRICT;

-- Plans as they were bought, with the terms of that moment. A row is made before its money may move, and is paid once `seq`
-- is set, in the transaction that records the settlement. The last paid one of an account is in force until it ends. Paid
-- rows are books: they outlive the plan and the account, whose id then leads to nobody.
CREATE TABLE plan_orders (
  -- The number of the receipt.
  id TEXT PRIMARY KEY,
  account TEXT NOT NULL,
  -- SHA-256 of the payment, as in payments.
  payment TEXT NOT NULL,
  plan TEXT NOT NULL,
  daily INTEGER NOT NULL,
  per_minute INTEGER NOT NULL,
  watch INTEGER NOT NULL,
  streams INTEGER NOT NULL,
  exports INTEGER NOT NULL,
  price INTEGER NOT NULL,
  days INTEGER NOT NULL,
  -- The price in words, the network, and the payer's address on it.
  cost TEXT NOT NULL,
  network TEXT NOT NULL,
  payer TEXT NOT NULL,
  ordered_at INTEGER NOT NULL,
  -- The payment as it was signed, as JSON, until it is known to have arrived.
  authorization TEXT,
  -- Per account, from 1, without gaps.
  seq INTEGER,
  transaction_hash TEXT,
  starts_at INTEGER,
  ends_at INTEGER,
  -- How much of it is what was left of the plan before, in ms.
  carried INTEGER,
  UNIQUE (account, payment),
  CHECK ((seq IS NULL) = (starts_at IS NULL) AND (seq IS NULL) = (ends_at IS NULL) AND (seq IS NULL) = (carried IS NULL)),
  CHECK (ends_at > starts_at AND carried >= 0)
) STRICT;
CREATE UNIQUE INDEX plan_orders_paid ON plan_orders (account, seq) WHERE seq IS NOT NULL;
CREATE INDEX plan_orders_open ON plan_orders (id) WHERE seq IS NULL;
CREATE INDEX plan_orders_by_end ON plan_orders (ends_at) WHERE seq IS NOT NULL;
CREATE TRIGGER plan_orders_kept BEFORE DELETE ON plan_orders WHEN OLD.seq IS NOT NULL
  BEGIN SELECT RAISE(ABORT, 'paid plan_orders are append-only'); END;
CREATE TRIGGER plan_orders_fixed BEFORE UPDATE ON plan_orders WHEN OLD.seq IS NOT NULL
  BEGIN SELECT RAISE(ABORT, 'paid plan_orders are append-only'); END;
CREATE TRIGGER plan_orders_chained BEFORE UPDATE ON plan_orders WHEN OLD.seq IS NULL AND NEW.seq IS NOT NULL
    AND NEW.seq <> 1 + coalesce((SELECT max(seq) FROM plan_orders WHERE account = NEW.account), 0)
  BEGIN SELECT RAISE(ABORT, 'a paid plan follows the one before'); END;

-- The mails about a bought plan: its receipt, and that it ends in a week and in a day. Each is queued once.
CREATE TABLE plan_mails (
  plan_order TEXT NOT NULL REFERENCES plan_orders (id),
  kind TEXT NOT NULL CHECK (kind IN ('receipt', 'week', 'day')),
  mail TEXT NOT NULL UNIQUE,
  PRIMARY KEY (plan_order, kind)
) STRICT, WITHOUT ROWID;

-- Exports of an account on a UTC day.
CREATE TABLE export_days (
  account TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  day TEXT NOT NULL,
  used INTEGER NOT NULL CHECK (used >= 0),
  PRIMARY KEY (account, day)
) STRICT, WITHOUT ROWID;

-- The kind `plan` is new. The program alone says which kinds there are, so that the next one needs no other table.
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
