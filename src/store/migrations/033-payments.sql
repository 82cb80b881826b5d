-- Payments by the call (x402). A payment is its payer's nonce on a token of a network, and stands for one request;
-- rows are never deleted once money may have moved. Addresses and hashes are in lower case; times in ms.
CREATE TABLE payments (
  network TEXT NOT NULL,
  asset TEXT NOT NULL,
  payer TEXT NOT NULL,
  nonce TEXT NOT NULL,
  -- SHA-256 of what is bought: the method and the address, in hex.
  request TEXT NOT NULL,
  resource TEXT NOT NULL,
  -- Atomic units; at most 10^9, so no integer overflows.
  units INTEGER NOT NULL,
  -- claimed: nothing was asked of the chain yet. settling: it was, or may have been. settled: the money is there.
  state TEXT NOT NULL CHECK (state IN ('claimed', 'settling', 'settled')),
  -- Who is at it, and until when that is believed.
  holder TEXT NOT NULL,
  held_until INTEGER NOT NULL,
  claimed_at INTEGER NOT NULL,
  settled_at INTEGER,
  transaction_hash TEXT,
  -- The answer that was bought: kept from before the settling until some time after it.
  status INTEGER,
  headers TEXT,
  body BLOB,
  PRIMARY KEY (network, asset, payer, nonce)
) STRICT;

CREATE INDEX payments_with_answers ON payments (claimed_at) WHERE body IS NOT NULL;
