-- The number of a paper's newest reading of any source.
ALTER TABLE papers ADD COLUMN evidence_seq INTEGER NOT NULL DEFAULT 0;

-- The newest evidence of each version of a fact, derived from the ledger; the notes themselves are records.
CREATE TABLE evidence (
  paper TEXT NOT NULL,
  -- The claim key of a fact, or `<piece>/<n>` of one that a piece cites without a key.
  subject TEXT NOT NULL,
  -- The version of the fact, or the revision of the piece.
  version INTEGER NOT NULL,
  -- The entry of the ledger with the newest note.
  n INTEGER NOT NULL REFERENCES entries,
  read_at INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('found', 'read', 'changed', 'quote_not_found', 'gone', 'unread')),
  -- Of the first reading that had a text: the digest of that text.
  first_text TEXT,
  -- Digests of files of the newest reading that was kept: its text, and its archive in WARC.
  text TEXT,
  archive TEXT,
  PRIMARY KEY (paper, subject, version)
) STRICT, WITHOUT ROWID;
CREATE INDEX evidence_to_revise ON evidence (paper, read_at) WHERE state IN ('changed', 'quote_not_found', 'gone');
CREATE INDEX evidence_by_text ON evidence (text) WHERE text IS NOT NULL;
CREATE INDEX evidence_by_archive ON evidence (archive) WHERE archive IS NOT NULL;

-- What is to be read, and when. It is no part of the ledger.
CREATE TABLE source_readings (
  paper TEXT NOT NULL,
  subject TEXT NOT NULL,
  version INTEGER NOT NULL,
  -- The piece that cites the source; null for a fact of the record.
  piece TEXT,
  instrument TEXT NOT NULL,
  statement TEXT NOT NULL,
  quote TEXT,
  due_at INTEGER NOT NULL,
  -- How many times in a row it could not be read.
  failures INTEGER NOT NULL DEFAULT 0,
  -- Until when a process is reading it.
  claimed_until INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (paper, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX source_readings_due ON source_readings (paper, due_at);
CREATE INDEX source_readings_by_instrument ON source_readings (paper, instrument);
CREATE INDEX source_readings_by_piece ON source_readings (piece) WHERE piece IS NOT NULL;

-- Whether a scheduled piece waits until its sources were read.
ALTER TABLE generations ADD COLUMN awaits_evidence INTEGER NOT NULL DEFAULT 0 CHECK (awaits_evidence IN (0, 1));
ALTER TABLE airings ADD COLUMN awaits_evidence INTEGER NOT NULL DEFAULT 0 CHECK (awaits_evidence IN (0, 1));
ALTER TABLE pieces ADD COLUMN awaits_evidence INTEGER NOT NULL DEFAULT 0 CHECK (awaits_evidence IN (0, 1));
CREATE INDEX pieces_awaiting_evidence ON pieces (paper, id) WHERE awaits_evidence = 1;
-- A piece that waits is not due.
DROP INDEX pieces_scheduled;
CREATE INDEX pieces_scheduled ON pieces (scheduled_at)
  WHERE state = 'scheduled' AND awaits_review = 0 AND awaits_evidence = 0;
