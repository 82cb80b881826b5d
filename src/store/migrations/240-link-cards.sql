-- What pages say of themselves to which pieces link on lines of their own. Read from the network: no part of the ledger.

CREATE TABLE link_cards (
  paper TEXT NOT NULL,
  url TEXT NOT NULL,
  tries INTEGER NOT NULL,
  -- When to ask again, in ms; null for never.
  due_at INTEGER,
  -- A JSON object; null while nothing was found.
  card TEXT,
  -- The picture of the card, as it was drawn again; null without one. Last, so that it is not read for the others.
  picture BLOB,
  PRIMARY KEY (paper, url)
) STRICT;
CREATE INDEX link_cards_due ON link_cards (due_at) WHERE due_at IS NOT NULL;
