-- The archive in Trino, by a catalog `hive` of the Hive connector with
--   connector.name=hive, hive.metastore=file, hive.metastore.catalog.dir=local:///…, fs.s3.enabled=true (and s3.endpoint, …),
--   hive.parquet.time-zone=UTC, hive.non-managed-table-writes-enabled=false
-- ARCHIVE stands for the s3://… address of ARCHIVE_URL.

CREATE SCHEMA IF NOT EXISTS hive.archive;

CREATE TABLE IF NOT EXISTS hive.archive.observations (
  path varchar, seq bigint, domain varchar, observed_at timestamp(3), signed_at timestamp(3), kid varchar,
  signed_by varchar, record_fields integer, prev varbinary, receipt varchar, receipt_hash varchar,
  record_root varbinary, signature varbinary, circumstances varchar, body varchar,
  month varchar, bucket varchar
) WITH (external_location = 'ARCHIVE/observations', format = 'PARQUET', partitioned_by = ARRAY['month', 'bucket']);

-- After each closed month:
CALL hive.system.sync_partition_metadata('archive', 'observations', 'FULL');

-- SELECT observed_at, json_query(body, 'lax $."signals.A".values') FROM hive.archive.observations WHERE path = 'com.example';
