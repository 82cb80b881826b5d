-- Files of sources that may be on disk without evidence that names them: noted before they are written, and when newer
-- evidence takes their place. A sweep removes those that nothing names. It is no part of the ledger.
CREATE TABLE source_files (
  digest TEXT PRIMARY KEY,
  -- In ms.
  noted_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- A text can have the bytes of a picture.
CREATE INDEX records_by_media_digest ON records (json_extract(body, '$.digest')) WHERE kind = 'media';
