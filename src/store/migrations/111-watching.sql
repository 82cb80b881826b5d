-- What monitoring reads, so that each reading is a few rows.

-- The sum of the credit ledger, in credits, and its number of lines, by kind.
CREATE TABLE credit_totals (
  kind TEXT PRIMARY KEY CHECK (kind IN ('top_up', 'correction', 'draw', 'refund')),
  amount INTEGER NOT NULL,
  lines INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO credit_totals VALUES ('top_up', 0, 0), ('correction', 0, 0), ('draw', 0, 0), ('refund', 0, 0);
UPDATE credit_totals SET (amount, lines) =
  (SELECT coalesce(sum(l.amount), 0), count(*) FROM credit_ledger l WHERE l.kind = credit_totals.kind);
CREATE TRIGGER credit_ledger_totals AFTER INSERT ON credit_ledger BEGIN
  UPDATE credit_totals SET amount = amount + NEW.amount, lines = lines + 1 WHERE kind = NEW.kind;
END;

-- Payments that the chain was asked for, and whose outcome is not known yet: few at any time.
CREATE INDEX payments_settling ON payments (claimed_at) WHERE state = 'settling';
