-- The meter of the domain records. Days are UTC's, as YYYY-MM-DD; times in ms.

-- What became of an account's requests of a day; each is in one column.
CREATE TABLE meter_days (
  account TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  day TEXT NOT NULL,
  -- Answered, out of what the plan includes.
  included INTEGER NOT NULL DEFAULT 0 CHECK (included >= 0),
  -- Answered, and drawn from bought credits.
  drawn INTEGER NOT NULL DEFAULT 0 CHECK (drawn >= 0),
  -- Refused with 402.
  refused INTEGER NOT NULL DEFAULT 0,
  -- Answered with a failure: the unit went back.
  failed INTEGER NOT NULL DEFAULT 0,
  -- How many of the drawn ones are in the ledger.
  folded INTEGER NOT NULL DEFAULT 0 CHECK (folded >= 0),
  PRIMARY KEY (account, day)
) STRICT, WITHOUT ROWID;
-- Days with draws that are not in the ledger yet.
CREATE INDEX meter_days_open ON meter_days (account, day) WHERE drawn <> folded;

CREATE TABLE meter_keys (
  key TEXT NOT NULL REFERENCES service_keys (id) ON DELETE CASCADE,
  day TEXT NOT NULL,
  units INTEGER NOT NULL,
  -- The minute since the Unix epoch in which a request came last, and how many came in it.
  minute INTEGER NOT NULL,
  in_minute INTEGER NOT NULL,
  PRIMARY KEY (key, day)
) STRICT, WITHOUT ROWID;

-- What an operator agreed with one account.
CREATE TABLE meter_terms (
  account TEXT PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
  burst INTEGER NOT NULL CHECK (burst BETWEEN 1 AND 31)
) STRICT, WITHOUT ROWID;

-- Credits in micro-credits. These are books: they outlive the account, under an id that then leads to nobody.
CREATE TABLE credit_ledger (
  account TEXT NOT NULL,
  seq INTEGER NOT NULL,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('top_up', 'correction', 'draw', 'refund')),
  amount INTEGER NOT NULL CHECK (CASE WHEN kind IN ('top_up', 'refund') THEN amount > 0 ELSE amount < 0 END),
  -- The sum of this line and all before it.
  balance INTEGER NOT NULL CHECK (balance >= 0),
  day TEXT CHECK ((day IS NOT NULL) = (kind IN ('draw', 'refund'))),
  -- What it was paid by, once over all accounts.
  ref TEXT UNIQUE,
  note TEXT,
  PRIMARY KEY (account, seq)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER credit_ledger_kept BEFORE DELETE ON credit_ledger BEGIN SELECT RAISE(ABORT, 'credit_ledger is append-only'); END;
-- A note may be struck out, when its account is forgotten; nothing else changes.
CREATE TRIGGER credit_ledger_fixed BEFORE UPDATE ON credit_ledger
  WHEN NEW.note IS NOT NULL OR NEW.account <> OLD.account OR NEW.seq <> OLD.seq OR NEW.at <> OLD.at OR NEW.kind <> OLD.kind
    OR NEW.amount <> OLD.amount OR NEW.balance <> OLD.balance OR NEW.day IS NOT OLD.day OR NEW.ref IS NOT OLD.ref
  BEGIN SELECT RAISE(ABORT, 'credit_ledger is append-only'); END;
-- A line follows the last one, in number and in sum. REPLACE would delete without asking the trigger above.
CREATE TRIGGER credit_ledger_chained BEFORE INSERT ON credit_ledger
  WHEN NEW.seq <> 1 + coalesce((SELECT max(seq) FROM credit_ledger WHERE account = NEW.account), 0)
    OR NEW.balance <> NEW.amount + coalesce((SELECT balance FROM credit_ledger WHERE account = NEW.account ORDER BY seq DESC LIMIT 1), 0)
    OR (NEW.ref IS NOT NULL AND EXISTS (SELECT 1 FROM credit_ledger WHERE ref = NEW.ref))
  BEGIN SELECT RAISE(ABORT, 'credit_ledger is append-only, and its balance the sum'); END;

-- When a keyless caller was let in last: an address, kept until the next one comes 15 seconds or more after it.
CREATE TABLE keyless_callers (caller TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX keyless_callers_by_time ON keyless_callers (at);

-- How many keyless requests were let in.
CREATE TABLE keyless_days (day TEXT PRIMARY KEY, used INTEGER NOT NULL) STRICT, WITHOUT ROWID;
