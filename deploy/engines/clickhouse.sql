-- The archive in ClickHouse. ARCHIVE stands for the https address of bucket and prefix; for a folder below `user_files`,
-- write file('ARCHIVE/…', Parquet) in place of s3(…).

CREATE VIEW observations AS
SELECT * FROM s3('ARCHIVE/observations/month=*/bucket=*/data.parquet', 'KEY_ID', 'SECRET', Parquet)
SETTINGS use_hive_partitioning = 1;

CREATE VIEW observations_open AS
SELECT * FROM s3('ARCHIVE/observations_open/day=*/bucket=*/*.parquet', 'KEY_ID', 'SECRET', Parquet)
SETTINGS use_hive_partitioning = 1;

-- SELECT observed_at, JSONExtractRaw(body, 'signals.A') FROM observations WHERE path = 'com.example' ORDER BY observed_at;
