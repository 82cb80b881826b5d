-- Public dumps (DUMPS_URL): the files of each closed day, and what makes them out of date.

CREATE TABLE dumps (
  -- A UTC day, and its first moment in ms.
  day TEXT PRIMARY KEY,
  start INTEGER NOT NULL,
  -- The newest of its dumps; 0 before the first.
  generation INTEGER NOT NULL,
  -- Why another one is due; null while none is. While it is 'opted_out', the newest one shows what must not be shown.
  due TEXT CHECK (due IN ('new', 'late', 'clock', 'opted_out', 'opted_in', 'lost')),
  -- Rises with each reason: what was made meanwhile is not the newest.
  changes INTEGER NOT NULL,
  -- The newest observation, and the number of corrections of the clock, when it was last looked at.
  through INTEGER NOT NULL,
  clock INTEGER NOT NULL,
  -- When it became older than DUMPS_DAYS and was deleted, in ms.
  removed_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE dump_generations (
  day TEXT NOT NULL REFERENCES dumps,
  generation INTEGER NOT NULL,
  -- Why it replaced the one before.
  reason TEXT NOT NULL,
  "rows" INTEGER NOT NULL,
  parquet_bytes INTEGER NOT NULL,
  ndjson_bytes INTEGER NOT NULL,
  -- What is signed, a leaf of the log.
  note TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (day, generation)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER dump_generations_kept BEFORE DELETE ON dump_generations
  BEGIN SELECT RAISE(ABORT, 'dump_generations is append-only'); END;
CREATE TRIGGER dump_generations_fixed BEFORE UPDATE ON dump_generations
  BEGIN SELECT RAISE(ABORT, 'dump_generations is append-only'); END;

-- Whatever hides or shows a name: the dumps of all days between its first and its last observation are due.
CREATE TRIGGER hostnames_dumped AFTER UPDATE OF state ON hostnames
  WHEN OLD.kept = 1 AND (NEW.state = 'opted_out') <> (OLD.state = 'opted_out')
BEGIN
  UPDATE dumps SET
      due = CASE WHEN NEW.state = 'opted_out' OR due = 'opted_out' THEN 'opted_out' ELSE coalesce(due, 'opted_in') END,
      changes = changes + 1
    WHERE EXISTS (
        SELECT 1 FROM observations
        WHERE host = NEW.id AND observed_at >= dumps.start AND observed_at < dumps.start + 86400000)
      OR EXISTS (
        SELECT 1 FROM archived_hosts
        WHERE host = NEW.id AND first_at < dumps.start + 86400000 AND last_at >= dumps.start);
END;
