-- The archive in DuckDB 1.4 or newer. ARCHIVE stands for the folder or the s3://… address of ARCHIVE_URL:
--   sed 's|ARCHIVE|s3://bucket/prefix|' deploy/engines/duckdb.sql > archive.sql; duckdb -init archive.sql
-- For a bucket, first: INSTALL httpfs; LOAD httpfs; CREATE SECRET (TYPE s3, KEY_ID '…', SECRET '…', REGION '…', ENDPOINT '…');
SET TimeZone = 'UTC';

-- Closed months, with what came late for them. A filter on `path` reads a few pages, since rows are sorted by it.
CREATE OR REPLACE VIEW closed_observations AS
  SELECT * FROM read_parquet('ARCHIVE/observations/month=*/bucket=*/*.parquet',
    hive_types = {'month': VARCHAR, 'bucket': VARCHAR});

-- The days since then. Those of a month that was closed stay beside it for two days, and are left out.
CREATE OR REPLACE VIEW open_observations AS
  SELECT * FROM read_parquet('ARCHIVE/observations_open/day=*/bucket=*/*.parquet',
    hive_types = {'day': VARCHAR, 'bucket': VARCHAR})
  WHERE day[:7] || bucket NOT IN (
    SELECT regexp_extract(file, 'month=([0-9-]+)', 1) || regexp_extract(file, 'bucket=(.)', 1)
    FROM glob('ARCHIVE/observations/month=*/bucket=*/*.parquet'));

-- Every observation, once.
CREATE OR REPLACE VIEW observations AS
  SELECT * EXCLUDE (month, bucket) FROM closed_observations
  UNION ALL BY NAME SELECT * EXCLUDE (day, bucket) FROM open_observations;

-- The values of one type, a row each: SELECT * FROM answers WHERE path = 'com.example' AND signal = 'A'.
CREATE OR REPLACE VIEW answers AS
  SELECT path, domain, seq, observed_at, signal[9:] AS signal,
    json_extract_string(body, '$."' || signal || '".status') AS status,
    unnest(from_json(json_extract(body, '$."' || signal || '".values'), '["VARCHAR"]')) AS value
  FROM (SELECT *, unnest(json_keys(body)) AS signal FROM observations) WHERE starts_with(signal, 'signals.');

-- Changes, and the values of closed months, by name and by value: who has one, SELECT … WHERE value = '192.0.2.1'.
CREATE OR REPLACE VIEW deltas AS
  SELECT * FROM read_parquet('ARCHIVE/deltas/day=*/*.parquet', hive_types = {'day': VARCHAR});

CREATE OR REPLACE VIEW sightings AS
  SELECT * FROM read_parquet('ARCHIVE/sightings/month=*/bucket=*/*.parquet',
    hive_types = {'month': VARCHAR, 'bucket': VARCHAR});

CREATE OR REPLACE VIEW sightings_by_value AS
  SELECT * FROM read_parquet('ARCHIVE/sightings_by_value/month=*/part=*/*.parquet',
    hive_types = {'month': VARCHAR, 'part': VARCHAR});
