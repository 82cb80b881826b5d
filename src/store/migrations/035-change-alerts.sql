-- Who is told of changes, of a group or of one hostname, and how: by mail at
-- once or once a day, or over HTTP. Times in ms.
CREATE TABLE change_alerts (
  id TEXT PRIMARY KEY,
  account TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  watch_group TEXT REFERENCES watch_groups (id) ON DELETE CASCADE,
  hostname TEXT,
  way TEXT NOT NULL CHECK (way IN ('instant', 'daily', 'webhook')),
  url TEXT,
  -- In the clear: signing needs it.
  secret TEXT,
  made_at INTEGER NOT NULL,
  -- When the first of the failures came that no success has followed.
  failing_since INTEGER,
  off_at INTEGER,
  off_reason TEXT CHECK (off_reason IN ('gone', 'failing', 'unsubscribed', 'bounced')),
  CHECK ((watch_group IS NULL) <> (hostname IS NULL)),
  CHECK ((way = 'webhook') = (url IS NOT NULL AND secret IS NOT NULL))
) STRICT;
CREATE INDEX change_alerts_of_account ON change_alerts (account, id);
CREATE INDEX change_alerts_of_group ON change_alerts (watch_group) WHERE watch_group IS NOT NULL;
CREATE INDEX change_alerts_of_hostname ON change_alerts (hostname) WHERE hostname IS NOT NULL;

-- The last delta that was looked through: it moves with what it queued. What
-- came before there were alerts is told to nobody.
CREATE TABLE change_mark (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  seq INTEGER NOT NULL
) STRICT;
INSERT INTO change_mark SELECT 1, coalesce(max(seq), 0) FROM deltas;

-- What is to be told by mail: each account is told of each delta once, however
-- many of its alerts it is for.
CREATE TABLE change_notices (
  account TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  delta INTEGER NOT NULL,
  way TEXT NOT NULL CHECK (way IN ('instant', 'daily')),
  -- When the delta was entered.
  at INTEGER NOT NULL,
  -- The mail that tells it; null while it waits for one.
  mail TEXT,
  PRIMARY KEY (account, delta)
) STRICT, WITHOUT ROWID;
CREATE INDEX change_notices_waiting ON change_notices (way, account, at) WHERE mail IS NULL;
CREATE INDEX change_notices_by_mail ON change_notices (mail) WHERE mail IS NOT NULL;
CREATE INDEX change_notices_by_age ON change_notices (at);

-- When an account was last written to of changes: mails keep a distance.
CREATE TABLE change_paces (
  account TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  way TEXT NOT NULL CHECK (way IN ('instant', 'daily')),
  at INTEGER NOT NULL,
  PRIMARY KEY (account, way)
) STRICT, WITHOUT ROWID;

-- What is sent to webhooks, byte for byte the same however often.
CREATE TABLE change_deliveries (
  -- The receiver sees it as webhook-id.
  id TEXT PRIMARY KEY,
  alert TEXT NOT NULL REFERENCES change_alerts (id) ON DELETE CASCADE,
  type TEXT NOT NULL,
  body TEXT NOT NULL,
  host TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed')),
  due_at INTEGER NOT NULL,
  lease INTEGER,
  tries INTEGER NOT NULL DEFAULT 0,
  by_hand INTEGER NOT NULL CHECK (by_hand IN (0, 1)),
  made_at INTEGER NOT NULL
) STRICT;
CREATE INDEX change_deliveries_due ON change_deliveries (due_at, id) WHERE state = 'waiting';
CREATE INDEX change_deliveries_of_alert ON change_deliveries (alert, id);
CREATE INDEX change_deliveries_by_age ON change_deliveries (made_at);

CREATE TABLE change_attempts (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  delivery TEXT NOT NULL REFERENCES change_deliveries (id) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  ms INTEGER NOT NULL,
  status INTEGER,
  error TEXT
) STRICT;
CREATE INDEX change_attempts_by_delivery ON change_attempts (delivery, n);
