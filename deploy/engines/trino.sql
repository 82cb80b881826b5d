-- The archive in Trino, by a catalog `hive` of the Hive connector with
--   connector.name=hive, hive.metastore=file, hive.metastore.catalog.dir=local:///…, fs.s3.enabled=true (and s3.endpoint, …),
--   hive.parquet.time-zone=UTC, hive.non-managed-table-writes-enabled=false
-- ARCHIVE stands for the s3://… address of ARCHIVE_URL.

CREATE SCHEMA IF NOT EXISTS hive.archive;

CREATE TABLE IF NOT EXISTS hive.archive.closed_observations (
  path varchar, seq bigint, domain varchar, observed_at timestamp(3), signed_at timestamp(3), kid varchar,
  signed_by varchar, record_fields integer, prev varbinary, receipt varchar, receipt_hash varchar,
  record_root varbinary, signature varbinary, circumstances varchar, body varchar,
  month varchar, bucket varchar
) WITH (external_location = 'ARCHIVE/observations', format = 'PARQUET', partitioned_by = ARRAY['month', 'bucket']);

CREATE TABLE IF NOT EXISTS hive.archive.observation_days (
  path varchar, seq bigint, domain varchar, observed_at timestamp(3), signed_at timestamp(3), kid varchar,
  signed_by varchar, record_fields integer, prev varbinary, receipt varchar, receipt_hash varchar,
  record_root varbinary, signature varbinary, circumstances varchar, body varchar,
  day varchar, bucket varchar
) WITH (external_location = 'ARCHIVE/observations_open', format = 'PARQUET', partitioned_by = ARRAY['day', 'bucket']);

CREATE TABLE IF NOT EXISTS hive.archive.deltas (
  seq bigint, changed_at timestamp(3), path varchar, domain varchar, signal varchar, kind varchar, before varchar,
  after varchar, observation_seq bigint, rotation varchar,
  day varchar
) WITH (external_location = 'ARCHIVE/deltas', format = 'PARQUET', partitioned_by = ARRAY['day']);

CREATE TABLE IF NOT EXISTS hive.archive.sightings (
  path varchar, domain varchar, signal varchar, value varchar, first_seen timestamp(3), last_seen timestamp(3),
  count integer,
  month varchar, bucket varchar
) WITH (external_location = 'ARCHIVE/sightings', format = 'PARQUET', partitioned_by = ARRAY['month', 'bucket']);

CREATE TABLE IF NOT EXISTS hive.archive.sightings_by_value (
  path varchar, domain varchar, signal varchar, value varchar, first_seen timestamp(3), last_seen timestamp(3),
  count integer,
  month varchar, part varchar
) WITH (external_location = 'ARCHIVE/sightings_by_value', format = 'PARQUET', partitioned_by = ARRAY['month', 'part']);

-- After each closed day:
CALL hive.system.sync_partition_metadata('archive', 'closed_observations', 'FULL');
CALL hive.system.sync_partition_metadata('archive', 'observation_days', 'FULL');
CALL hive.system.sync_partition_metadata('archive', 'deltas', 'FULL');
CALL hive.system.sync_partition_metadata('archive', 'sightings', 'FULL');
CALL hive.system.sync_partition_metadata('archive', 'sightings_by_value', 'FULL');

-- The days since the closed months. Those of a month that was closed stay beside it for two days, and are left out.
CREATE OR REPLACE VIEW hive.archive.open_observations AS
  SELECT * FROM hive.archive.observation_days
  WHERE substr(day, 1, 7) || bucket NOT IN (
    SELECT month || substr(bucket, 1, 1) FROM hive.archive."closed_observations$partitions");

-- Every observation, once. A filter on `path` reads a few pages of a month, since rows are sorted by it.
CREATE OR REPLACE VIEW hive.archive.observations AS
  SELECT path, seq, domain, observed_at, signed_at, kid, signed_by, record_fields, prev, receipt, receipt_hash,
    record_root, signature, circumstances, body FROM hive.archive.closed_observations
  UNION ALL
  SELECT path, seq, domain, observed_at, signed_at, kid, signed_by, record_fields, prev, receipt, receipt_hash,
    record_root, signature, circumstances, body FROM hive.archive.open_observations;

-- SELECT observed_at, json_query(body, 'lax $."signals.A".values') FROM hive.archive.observations WHERE path = 'com.example';
-- Who has a value: SELECT * FROM hive.archive.sightings_by_value WHERE value = '192.0.2.1'.
