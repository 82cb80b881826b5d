-- Search within the values of records.

-- What was seen for the first time, until the index takes it: a look is entered without waiting for the index.
CREATE TABLE values_to_index (
  id INTEGER PRIMARY KEY,
  host INTEGER NOT NULL,
  signal TEXT NOT NULL,
  value TEXT NOT NULL
) STRICT;
CREATE TRIGGER sightings_to_index AFTER INSERT ON sightings BEGIN
  INSERT INTO values_to_index (host, signal, value) VALUES (NEW.host, NEW.signal, NEW.value);
END;

-- The sightings of a database from before are taken by their keys, up to the last host that it had; no row when all are.
CREATE TABLE values_before (
  host INTEGER NOT NULL,
  signal TEXT NOT NULL,
  value TEXT NOT NULL,
  last_host INTEGER NOT NULL
) STRICT;
INSERT INTO values_before SELECT 0, '', '', max(host) FROM sightings HAVING max(host) IS NOT NULL;

-- Each value once, whoever has it; one that sightings_by_value does not hold whole once for each host and signal.
CREATE TABLE searched_values (
  id INTEGER PRIMARY KEY,
  digest BLOB NOT NULL UNIQUE,
  host INTEGER,
  signal TEXT,
  value TEXT NOT NULL
) STRICT;
-- The words are folded before they come here. Addresses are one word.
CREATE VIRTUAL TABLE value_words USING fts5 (words, content = '', tokenize = "ascii tokenchars '.:'", prefix = '2 3 4');
