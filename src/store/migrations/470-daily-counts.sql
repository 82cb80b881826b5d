-- Daily counts, from which pages draw how often a hostname changes and how a service spreads.

-- Changes of each hostname by UTC day, those of rotating answers excepted.
CREATE TABLE host_changes (
  host INTEGER NOT NULL REFERENCES hostnames,
  day TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (host, day)
) STRICT, WITHOUT ROWID;
INSERT INTO host_changes SELECT host, strftime('%Y-%m-%d', at / 1000, 'unixepoch'), count(*) FROM deltas
  WHERE rotation IS NOT 'answer' GROUP BY 1, 2;
CREATE TRIGGER deltas_counted_by_host AFTER INSERT ON deltas WHEN NEW.rotation IS NOT 'answer' BEGIN
  INSERT INTO host_changes VALUES (NEW.host, strftime('%Y-%m-%d', NEW.at / 1000, 'unixepoch'), 1)
    ON CONFLICT DO UPDATE SET count = count + 1;
END;

-- How many shown hosts had a facet at the end of each UTC day on which that number changed.
CREATE TABLE facet_days (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  day TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (kind, name, day)
) STRICT, WITHOUT ROWID;
-- The day from which a facet without a row is known to have had no host.
CREATE TABLE facet_days_start (one INTEGER PRIMARY KEY CHECK (one = 1), day TEXT NOT NULL) STRICT;
INSERT INTO facet_days_start
  SELECT 1, strftime('%Y-%m-%d', looked_at / 1000, 'unixepoch') FROM hostnames WHERE looked_at IS NOT NULL ORDER BY looked_at DESC LIMIT 1;
INSERT INTO facet_days SELECT kind, name, day, count FROM facet_counts, facet_days_start WHERE kind <> 'expiry';

-- A page of changes by its filters.
CREATE INDEX deltas_by_kind ON deltas (kind, seq);
CREATE INDEX deltas_by_signal_kind ON deltas (signal, kind, seq);
