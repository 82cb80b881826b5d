-- Network, asset, payer and nonce of a payment can be read on the chain by anybody. What tells its payer from a stranger is
-- the whole of what was signed, with the signature: its SHA-256 in hex, from when the signature was checked. NULL before that,
-- and in rows of a version that kept none: their answers are not given out again.
ALTER TABLE payments ADD COLUMN payment_hash TEXT;
-- How often the answer was given out again.
ALTER TABLE payments ADD COLUMN repeats INTEGER NOT NULL DEFAULT 0;
