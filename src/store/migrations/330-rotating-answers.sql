-- Pools of addresses that rotate are learned as sets (docs/protocol.md, section 5.9). A delta of such a name is either of
-- its answers ('answer'), which only raw lists have, or of its set ('set'), which all others have; null for any other.
ALTER TABLE deltas ADD COLUMN rotation TEXT CHECK (rotation IN ('answer', 'set'));
CREATE INDEX deltas_shown_by_host ON deltas (host, seq) WHERE rotation IS NOT 'answer';
DROP TRIGGER deltas_fixed;
CREATE TRIGGER deltas_fixed BEFORE UPDATE ON deltas
  WHEN NEW.seq IS NOT OLD.seq OR NEW.host IS NOT OLD.host OR NEW.signal IS NOT OLD.signal OR NEW.kind IS NOT OLD.kind
    OR NEW."before" IS NOT OLD."before" OR NEW."after" IS NOT OLD."after" OR NEW.observation IS NOT OLD.observation
    OR NEW.rotation IS NOT OLD.rotation OR NEW.at >= OLD.at
    OR NOT EXISTS (SELECT 1 FROM records WHERE paper = '' AND kind = 'clock' AND name = 'records')
  BEGIN SELECT RAISE(ABORT, 'deltas is append-only'); END;
DROP TRIGGER deltas_counted;
CREATE TRIGGER deltas_counted AFTER INSERT ON deltas WHEN NEW.rotation IS NOT 'answer' BEGIN
  INSERT INTO change_counts VALUES (strftime('%Y-%m-%d', NEW.at / 1000, 'unixepoch'), NEW.signal, NEW.kind, 1)
    ON CONFLICT DO UPDATE SET count = count + 1;
END;

-- What is known of the rotation of a signal, as JSON: its last answers, and its set once it is learned. It follows from
-- the observations after the one that is noted here: what was published before stays as it was.
CREATE TABLE rotations (
  host INTEGER NOT NULL REFERENCES hostnames,
  signal TEXT NOT NULL,
  state TEXT NOT NULL,
  PRIMARY KEY (host, signal)
) STRICT, WITHOUT ROWID;
CREATE TABLE rotation_start (one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL) STRICT;
INSERT INTO rotation_start SELECT 1, coalesce(max(seq), 0) FROM observations;

-- The autonomous system that originates a network, as the operator's table said when an observation needed it, from that
-- observation on; null for none. Observations and these rows together give the sets again.
CREATE TABLE network_origins (
  network TEXT NOT NULL,
  seq INTEGER NOT NULL,
  asn INTEGER,
  PRIMARY KEY (network, seq)
) STRICT, WITHOUT ROWID;
