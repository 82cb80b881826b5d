-- What the doors of the API need: whose a key is, answers that may be asked for twice, how far the press has come.

-- A seat is a person's key: the mail address of who sits there. An agent's key may be bound to one persona.
ALTER TABLE keys ADD COLUMN seat TEXT;
ALTER TABLE keys ADD COLUMN persona TEXT;
ALTER TABLE keys ADD COLUMN used_at INTEGER;
CREATE UNIQUE INDEX keys_by_seat ON keys (paper, seat) WHERE seat IS NOT NULL AND revoked_at IS NULL;

-- What a write answered, for a caller who sends it again under the same Idempotency-Key.
CREATE TABLE answers (
  key TEXT NOT NULL REFERENCES keys (id),
  name TEXT NOT NULL,
  -- SHA-256 of the method, the path and the body.
  request TEXT NOT NULL,
  status INTEGER NOT NULL,
  body TEXT NOT NULL,
  made_at INTEGER NOT NULL,
  PRIMARY KEY (key, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX answers_by_age ON answers (made_at);

-- The id of the last row of press_due that is on disk.
ALTER TABLE presses ADD COLUMN paid INTEGER NOT NULL DEFAULT 0;
