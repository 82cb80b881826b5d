-- Receipts that events of expectations show: their observations may leave the database for the archive.
CREATE TABLE kept_receipts (
  seq INTEGER PRIMARY KEY,
  host INTEGER NOT NULL REFERENCES hostnames,
  observed_at INTEGER NOT NULL,
  signed_at INTEGER,
  -- As in observations.
  receipt TEXT NOT NULL,
  signer INTEGER REFERENCES receipt_signers,
  fields INTEGER,
  root BLOB,
  prev BLOB,
  signature BLOB
) STRICT;
CREATE INDEX kept_receipts_of_host ON kept_receipts (host);
CREATE INDEX expectation_events_by_observation ON expectation_events (observation) WHERE observation IS NOT NULL;
CREATE INDEX planned_values_by_observation ON planned_values (observation) WHERE observation IS NOT NULL;
CREATE TRIGGER observations_receipted AFTER DELETE ON observations
  WHEN EXISTS (SELECT 1 FROM expectation_events WHERE observation = OLD.seq)
    OR EXISTS (SELECT 1 FROM planned_values WHERE observation = OLD.seq)
BEGIN
  INSERT OR IGNORE INTO kept_receipts VALUES (
    OLD.seq, OLD.host, OLD.observed_at, OLD.signed_at, OLD.receipt, OLD.signer, OLD.fields, OLD.root, OLD.prev, OLD.signature);
END;
