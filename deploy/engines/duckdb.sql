-- The archive in DuckDB 1.4 or newer. ARCHIVE stands for the folder or the s3://… address of ARCHIVE_URL:
--   sed 's|ARCHIVE|s3://bucket/prefix|' deploy/engines/duckdb.sql > archive.sql; duckdb -init archive.sql
-- For a bucket, first: INSTALL httpfs; LOAD httpfs; CREATE SECRET (TYPE s3, KEY_ID '…', SECRET '…', REGION '…', ENDPOINT '…');

-- Closed months. `path` sorts: the names of a domain lie together, so a filter on it reads a few pages.
CREATE OR REPLACE VIEW observations AS
  SELECT * FROM read_parquet('ARCHIVE/observations/month=*/bucket=*/data.parquet', hive_partitioning = true);

-- The days since the newest closed month. The days of a month that was closed go two days later.
CREATE OR REPLACE VIEW observations_open AS
  SELECT * FROM read_parquet('ARCHIVE/observations_open/day=*/bucket=*/*.parquet', hive_partitioning = true)
  WHERE CAST(day AS VARCHAR)[:7] NOT IN (SELECT CAST(month AS VARCHAR)[:7] FROM observations);

-- The values of one type, a row each: SELECT * FROM answers WHERE path = 'com.example' AND signal = 'A'.
CREATE OR REPLACE VIEW answers AS
  SELECT path, domain, seq, observed_at, signal[9:] AS signal,
    json_extract_string(body, '$."' || signal || '".status') AS status,
    unnest(from_json(json_extract(body, '$."' || signal || '".values'), '["VARCHAR"]')) AS value
  FROM (SELECT *, unnest(json_keys(body)) AS signal FROM observations) WHERE starts_with(signal, 'signals.');
