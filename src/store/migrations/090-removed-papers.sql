-- A paper that was removed, by a record without a body. The row keeps its last body, its number of receipts and its edition.
ALTER TABLE papers ADD COLUMN removed_at INTEGER;
