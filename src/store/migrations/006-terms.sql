-- Signatures under the agreement for agents; the digest says which text was signed.
CREATE TABLE terms (
  paper TEXT NOT NULL,
  version TEXT NOT NULL,
  digest TEXT NOT NULL,
  signed_by TEXT NOT NULL,
  signed_at INTEGER NOT NULL,
  key TEXT NOT NULL,
  PRIMARY KEY (paper, version, digest)
) STRICT;

CREATE TRIGGER terms_kept BEFORE DELETE ON terms BEGIN SELECT RAISE(ABORT, 'terms is append-only'); END;
CREATE TRIGGER terms_fixed BEFORE UPDATE ON terms BEGIN SELECT RAISE(ABORT, 'terms is append-only'); END;
