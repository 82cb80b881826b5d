-- A signed observation as the source of a cited fact. The state `unverified` is new; SQLite changes no CHECK in place.
CREATE TABLE evidence_next (
  paper TEXT NOT NULL,
  -- The claim key of a fact, or `<piece>/<n>` of one that a piece cites without a key.
  subject TEXT NOT NULL,
  -- The version of the fact, or the revision of the piece.
  version INTEGER NOT NULL,
  -- The entry of the ledger with the newest note.
  n INTEGER NOT NULL REFERENCES entries,
  read_at INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('found', 'read', 'changed', 'quote_not_found', 'unverified', 'gone', 'unread')),
  -- Of the first reading that had a text: the digest of that text.
  first_text TEXT,
  -- Digests of files of the newest reading that was kept: its text, and its archive in WARC.
  text TEXT,
  archive TEXT,
  -- The observation of the first reading that had one, as JSON: what later ones are compared with.
  first_observation TEXT,
  PRIMARY KEY (paper, subject, version)
) STRICT, WITHOUT ROWID;
INSERT INTO evidence_next (paper, subject, version, n, read_at, state, first_text, text, archive)
  SELECT paper, subject, version, n, read_at, state, first_text, text, archive FROM evidence;
DROP TABLE evidence;
ALTER TABLE evidence_next RENAME TO evidence;
CREATE INDEX evidence_to_revise ON evidence (paper, read_at)
  WHERE state IN ('changed', 'quote_not_found', 'unverified', 'gone');
CREATE INDEX evidence_by_text ON evidence (text) WHERE text IS NOT NULL;
CREATE INDEX evidence_by_archive ON evidence (archive) WHERE archive IS NOT NULL;
