-- The archive in Spark SQL 4: spark-sql -f, or spark.sql() for each statement. ARCHIVE stands for the folder, or
-- the s3a://… address of ARCHIVE_URL (with hadoop-aws on the class path).
SET spark.sql.session.timeZone = UTC;
SET spark.sql.sources.partitionColumnTypeInference.enabled = false;

-- Closed months, with what came late for them. A filter on `path` reads a few pages, since rows are sorted by it.
CREATE OR REPLACE TEMPORARY VIEW closed_observations USING parquet OPTIONS (path 'ARCHIVE/observations');

-- The days since then. Those of a month that was closed stay beside it for two days, and are left out.
CREATE OR REPLACE TEMPORARY VIEW observation_days USING parquet OPTIONS (path 'ARCHIVE/observations_open');
CREATE OR REPLACE TEMPORARY VIEW open_observations AS
  SELECT * FROM observation_days
  WHERE concat(left(day, 7), bucket) NOT IN (SELECT DISTINCT concat(month, left(bucket, 1)) FROM closed_observations);

-- Every observation, once.
CREATE OR REPLACE TEMPORARY VIEW observations AS
  SELECT * EXCEPT (month, bucket) FROM closed_observations UNION ALL SELECT * EXCEPT (day, bucket) FROM open_observations;

-- Changes, and the values of closed months, by name and by value: who has one, SELECT … WHERE value = '192.0.2.1'.
CREATE OR REPLACE TEMPORARY VIEW deltas USING parquet OPTIONS (path 'ARCHIVE/deltas');
CREATE OR REPLACE TEMPORARY VIEW sightings USING parquet OPTIONS (path 'ARCHIVE/sightings');
CREATE OR REPLACE TEMPORARY VIEW sightings_by_value USING parquet OPTIONS (path 'ARCHIVE/sightings_by_value');

-- SELECT observed_at, get_json_object(body, "$['signals.A'].values") FROM observations WHERE path = 'com.example';
