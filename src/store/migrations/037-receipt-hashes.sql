-- A receipt is found by the hash that the next one names as its `prev`. Twelve digits tell receipts apart well enough.
CREATE INDEX observations_by_hash ON observations (substr(receipt_hash, 8, 12));
