-- What an operator's write to the domain records answered, for one who sends it again under the same Idempotency-Key.
CREATE TABLE service_answers (
  key TEXT NOT NULL REFERENCES service_keys (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  -- SHA-256 of the method, the path and the body.
  request TEXT NOT NULL,
  status INTEGER NOT NULL,
  body TEXT NOT NULL,
  made_at INTEGER NOT NULL,
  PRIMARY KEY (key, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX service_answers_by_age ON service_answers (made_at);
