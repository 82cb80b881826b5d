-- The archive in ClickHouse. ARCHIVE stands for the https address of bucket and prefix; for a folder below `user_files`,
-- write file('ARCHIVE/…', Parquet) in place of s3('ARCHIVE/…', 'KEY_ID', 'SECRET', Parquet).

-- Closed months, with what came late for them. A filter on `path` reads a few pages, since rows are sorted by it.
CREATE OR REPLACE VIEW closed_observations AS
SELECT *, replaceRegexpOne(_path, '^.*month=([0-9-]+)/bucket=(.).*$', '\\1\\2') AS month_bucket
FROM s3('ARCHIVE/observations/month=*/bucket=*/*.parquet', 'KEY_ID', 'SECRET', Parquet)
SETTINGS use_hive_partitioning = 0;

-- The days since then. Those of a month that was closed stay beside it for two days, and are left out.
CREATE OR REPLACE VIEW open_observations AS
SELECT *, replaceRegexpOne(_path, '^.*day=([0-9]+-[0-9]+)-[0-9]+/bucket=(.).*$', '\\1\\2') AS month_bucket
FROM s3('ARCHIVE/observations_open/day=*/bucket=*/*.parquet', 'KEY_ID', 'SECRET', Parquet)
WHERE month_bucket NOT IN (SELECT month_bucket FROM closed_observations)
SETTINGS use_hive_partitioning = 0;

-- Every observation, once.
CREATE OR REPLACE VIEW observations AS
SELECT * FROM closed_observations UNION ALL SELECT * FROM open_observations;

-- Changes, and the values of closed months, by name and by value: who has one, SELECT … WHERE value = '192.0.2.1'.
CREATE OR REPLACE VIEW deltas AS
SELECT * FROM s3('ARCHIVE/deltas/day=*/*.parquet', 'KEY_ID', 'SECRET', Parquet)
SETTINGS use_hive_partitioning = 0;

CREATE OR REPLACE VIEW sightings AS
SELECT * FROM s3('ARCHIVE/sightings/month=*/bucket=*/*.parquet', 'KEY_ID', 'SECRET', Parquet)
SETTINGS use_hive_partitioning = 0;

CREATE OR REPLACE VIEW sightings_by_value AS
SELECT * FROM s3('ARCHIVE/sightings_by_value/month=*/part=*/*.parquet', 'KEY_ID', 'SECRET', Parquet)
SETTINGS use_hive_partitioning = 0;

-- SELECT observed_at, JSONExtractRaw(body, 'signals.A') FROM observations WHERE path = 'com.example' ORDER BY observed_at;
