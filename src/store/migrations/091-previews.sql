-- Links to the pages of pieces that are not on air: only the hash of each secret is kept.
CREATE TABLE previews (
  hash TEXT PRIMARY KEY,
  paper TEXT NOT NULL,
  piece TEXT NOT NULL,
  -- The id of the access key that asked for it.
  key TEXT NOT NULL,
  made_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX previews_by_piece ON previews (piece, made_at);
CREATE INDEX previews_by_expiry ON previews (expires_at);
