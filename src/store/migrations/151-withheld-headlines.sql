-- A withdrawal may withhold the headline of its piece, where law or privacy asks for it.

ALTER TABLE withdrawals ADD COLUMN withhold_headline INTEGER NOT NULL DEFAULT 0 CHECK (withhold_headline IN (0, 1));
-- Until the piece is on air again.
ALTER TABLE pieces ADD COLUMN headline_withheld INTEGER NOT NULL DEFAULT 0 CHECK (headline_withheld IN (0, 1));
