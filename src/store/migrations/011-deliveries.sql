-- Who is told over HTTP. A desk's own have an address, a secret and choices
-- here; those of a subscriber have them in the subscriber's row, whose id they share.
CREATE TABLE webhooks (
  id TEXT PRIMARY KEY,
  paper TEXT NOT NULL,
  subscriber TEXT REFERENCES subscribers (id) ON DELETE CASCADE,
  url TEXT,
  secret TEXT,
  -- A JSON list of section names; null means all, those to come too.
  sections TEXT,
  "cast" INTEGER CHECK ("cast" IN (0, 1)),
  made_at INTEGER NOT NULL,
  -- When the first of the failures came that no success has followed.
  failing_since INTEGER,
  -- Switched off: when, why, and for which address: another address is on.
  off_at INTEGER,
  off_reason TEXT CHECK (off_reason IN ('gone', 'failing')),
  off_url TEXT,
  CHECK ((subscriber IS NULL) = (url IS NOT NULL AND secret IS NOT NULL AND "cast" IS NOT NULL))
) STRICT;
CREATE INDEX webhooks_by_paper ON webhooks (paper, id);
CREATE INDEX webhooks_by_subscriber ON webhooks (subscriber) WHERE subscriber IS NOT NULL;
CREATE INDEX subscribers_with_webhook ON subscribers (paper, id) WHERE webhook IS NOT NULL;

-- What is sent, byte for byte the same to everybody and however often.
CREATE TABLE messages (
  -- The event's id, or a test's own.
  id TEXT PRIMARY KEY,
  type TEXT NOT NULL,
  body TEXT NOT NULL,
  made_at INTEGER NOT NULL
) STRICT;
CREATE INDEX messages_by_age ON messages (made_at);

CREATE TABLE deliveries (
  id TEXT PRIMARY KEY,
  paper TEXT NOT NULL,
  message TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
  webhook TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
  -- Whom it goes to, as far as others need to know: name and port.
  host TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed')),
  due_at INTEGER NOT NULL,
  -- Until when the one who took it has it alone; it is due again by itself after that.
  lease INTEGER,
  -- How many attempts of its schedule were made.
  tries INTEGER NOT NULL DEFAULT 0,
  -- Asked for by hand: one attempt, and no schedule.
  by_hand INTEGER NOT NULL DEFAULT 0 CHECK (by_hand IN (0, 1)),
  made_at INTEGER NOT NULL,
  UNIQUE (message, webhook)
) STRICT;
CREATE INDEX deliveries_due ON deliveries (due_at, id) WHERE state = 'waiting';
CREATE INDEX deliveries_by_paper ON deliveries (paper, id);
CREATE INDEX deliveries_by_webhook ON deliveries (webhook, state);

-- Every attempt. Nothing of what was sent or answered but the status.
CREATE TABLE attempts (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  delivery TEXT NOT NULL REFERENCES deliveries (id) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  ms INTEGER NOT NULL,
  status INTEGER,
  error TEXT
) STRICT;
CREATE INDEX attempts_by_delivery ON attempts (delivery, n);
