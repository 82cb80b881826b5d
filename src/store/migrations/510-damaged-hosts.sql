-- Hosts with an observation that an operator accepted as damaged: it may leave the database for the archive.

CREATE TABLE damaged_hosts (host INTEGER PRIMARY KEY REFERENCES hostnames (id)) STRICT;
INSERT INTO damaged_hosts SELECT DISTINCT host FROM damaged_observations CROSS JOIN observations USING (seq);
CREATE TRIGGER damaged_observations_host AFTER INSERT ON damaged_observations
  BEGIN INSERT OR IGNORE INTO damaged_hosts SELECT host FROM observations WHERE seq = NEW.seq; END;
