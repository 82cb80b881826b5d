-- Keys may end by themselves, and tell who made and revoked them, and on which UTC days they were used.

ALTER TABLE keys ADD COLUMN expires_at INTEGER;
-- `cli`, or `key:<id>`; null for what happened before there was a log.
ALTER TABLE keys ADD COLUMN made_by TEXT;
ALTER TABLE keys ADD COLUMN revoked_by TEXT;
CREATE TABLE key_days (
  key TEXT NOT NULL REFERENCES keys (id),
  day TEXT NOT NULL,
  PRIMARY KEY (key, day)
) STRICT, WITHOUT ROWID;
INSERT INTO key_days SELECT id, strftime('%Y-%m-%d', used_at / 1000, 'unixepoch') FROM keys WHERE used_at IS NOT NULL;

ALTER TABLE service_keys ADD COLUMN expires_at INTEGER;
-- `cli`, or `session:<id>`.
ALTER TABLE service_keys ADD COLUMN made_by TEXT;
ALTER TABLE service_keys ADD COLUMN revoked_by TEXT;
CREATE TABLE service_key_days (
  key TEXT NOT NULL REFERENCES service_keys (id) ON DELETE CASCADE,
  day TEXT NOT NULL,
  PRIMARY KEY (key, day)
) STRICT, WITHOUT ROWID;
INSERT INTO service_key_days
  SELECT id, strftime('%Y-%m-%d', used_at / 1000, 'unixepoch') FROM service_keys WHERE used_at IS NOT NULL;
