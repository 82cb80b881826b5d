-- A leaf that is the hash of a receipt is stored as its 32 bytes; its entry is then empty.
ALTER TABLE log_leaves ADD COLUMN receipt BLOB;
