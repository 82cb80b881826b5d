-- The archive in Spark SQL 3.4 or newer. ARCHIVE stands for the folder, or the s3a://… address of ARCHIVE_URL (with
-- hadoop-aws on the class path). Set spark.sql.session.timeZone=UTC.

CREATE TEMPORARY VIEW observations USING parquet OPTIONS (path 'ARCHIVE/observations');

CREATE TEMPORARY VIEW observations_open USING parquet OPTIONS (path 'ARCHIVE/observations_open');

-- SELECT observed_at, get_json_object(body, "$['signals.A'].values") FROM observations WHERE path = 'com.example';
