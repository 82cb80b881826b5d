import Database from 'libsql';

/** Empties the logs of a database, as in databases from before there were logs. */
export function emptyLogs(file: string): void {
  const db = new Database(file);
  try {
    const [trigger] = db.prepare("SELECT sql FROM sqlite_schema WHERE name = 'log_leaves_kept'").all() as {
      sql: string;
    }[];
    db.exec(`BEGIN; DROP TRIGGER log_leaves_kept; DELETE FROM log_leaves; ${trigger?.sql};
      UPDATE log_state SET filled = 0; COMMIT`);
  } finally {
    db.close();
  }
}
