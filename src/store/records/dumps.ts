import { DAY } from '../../proof/time.ts';
import { type Db, integer, oneOf, orNull, type Read, sql, text } from '../../shared/sql/sql.ts';

const REASON = oneOf('new', 'late', 'clock', 'opted_out', 'opted_in', 'lost');
export type DumpReason = Read<typeof REASON>;

const STATE = {
  ...{ day: text, start: integer, generation: integer, due: orNull(REASON), changes: integer, through: integer },
  ...{ clock: integer, removed_at: orNull(integer) },
};
/** The state of a day's dumps. Times in ms. */
export type DumpState = Read<typeof STATE>;

const GENERATION = {
  ...{ day: text, generation: integer, reason: REASON, rows: integer, parquet_bytes: integer },
  ...{ ndjson_bytes: integer, note: text, at: integer },
};
/** A completed dump. */
export type DumpGeneration = Read<typeof GENERATION>;

const COLUMNS = Object.keys(STATE).join(', ');
const GENERATION_COLUMNS = Object.keys(GENERATION)
  .map((name) => `"${name}"`)
  .join(', ');

const HOST = { id: integer, hostname: text, path: text };

/** Public dumps: which days have one, and why a new one is due. */
export function dumpTables(db: Db) {
  const { run, changed, insert, one, has, number, all } = sql(db);
  const begin = run(
    `INSERT INTO dumps VALUES (?1, ?2, 0, 'new', 1, 0, ?3, NULL)
     ON CONFLICT DO UPDATE SET due = coalesce(due, 'new'), changes = changes + 1, removed_at = NULL
       WHERE removed_at IS NOT NULL OR due IS NULL AND generation = 0`,
  );
  const observed = all(
    'SELECT seq, observed_at AS at FROM observations WHERE host = ? AND observed_at >= ? AND observed_at < ?',
    { seq: integer, at: integer },
  );
  const archivedLate = has(
    "SELECT 1 FROM archive_objects WHERE kind = 'observations_open' AND period = ? AND last_seq > ?",
  );
  const add = insert('dump_generations', GENERATION);
  const settle = changed(
    `UPDATE dumps SET generation = ?3, due = NULL, through = ?4, clock = ?5 WHERE day = ?1 AND changes = ?2`,
  );
  const mark = run(
    `UPDATE dumps SET due = coalesce(due, ?2), changes = changes + 1 WHERE day = ?1 AND removed_at IS NULL`,
  );
  const remove = run(`UPDATE dumps SET removed_at = ?2, changes = changes + 1 WHERE day = ?1`);
  return {
    /** All days that have or had dumps, newest first. */
    days: all(`SELECT ${COLUMNS} FROM dumps ORDER BY day DESC`, STATE),
    day: one(`SELECT ${COLUMNS} FROM dumps WHERE day = ?`, STATE),
    /** All dumps made of a day, newest first. */
    generations: all(
      `SELECT ${GENERATION_COLUMNS} FROM dump_generations WHERE day = ? ORDER BY generation DESC`,
      GENERATION,
    ),
    /** The notes of all dumps, for an audit. */
    notes: all('SELECT day, generation, note FROM dump_generations ORDER BY day, generation', {
      day: text,
      generation: integer,
      note: text,
    }),
    /** A text that changes with every dump, and whenever a dump is hidden. */
    state: one(
      `SELECT count(*) || ' ' || coalesce(sum(changes), 0) || ' ' || coalesce(sum(generation), 0) || ' ' ||
         (SELECT count(*) FROM dumps WHERE due IS NOT NULL) AS state FROM dumps`,
      text,
    ),
    dueCount: number('SELECT count(*) FROM dumps WHERE due IS NOT NULL AND removed_at IS NULL'),
    /** The number of days with a dump to show. */
    shownCount: number(
      "SELECT count(*) FROM dumps WHERE generation > 0 AND removed_at IS NULL AND due IS NOT 'opted_out'",
    ),
    newestDay: one('SELECT max(day) AS day FROM dumps WHERE generation > 0', orNull(text)),
    /**
     * Records that a day needs a dump. `start` is its first moment in ms, `clock` the number of corrections of the
     * clock.
     */
    begin: (day: string, start: number, clock: number): void => void begin(day, start, clock),
    /** Marks the dump of a day as outdated. A reason that hides the dump replaces one that does not. */
    mark: (day: string, reason: DumpReason): void => void mark(day, reason),
    /** Records that the corrections of the clock so far do not affect a day. */
    passClock: run('UPDATE dumps SET clock = ?2 WHERE day = ?1'),
    /**
     * Makes a dump the newest of its day, or without `made`, keeps the newest. Returns false, and changes nothing, if
     * the day was marked again meanwhile. Call it in a transaction.
     */
    settle(
      { day, changes, generation }: DumpState,
      seen: { through: number; clock: number },
      made: DumpGeneration | null,
    ): boolean {
      if (!settle(day, changes, made?.generation ?? generation, seen.through, seen.clock)) return false;
      if (made !== null) add(made);
      return true;
    },
    /** Records that a day's dumps were removed, at a time in ms. */
    remove: (day: string, at: number): void => void remove(day, at),
    /** The numbers and times (ms) of observations in the database after a number. */
    observedSince: all('SELECT seq, observed_at FROM observations WHERE seq > ? ORDER BY seq LIMIT ?', {
      seq: integer,
      observed_at: integer,
    }),
    /** Whether an archive file of the day has observations of that day above a number. */
    isArchivedLate: archivedLate,
    /** The times of the first and the newest observation, in the database or the archive, in ms; null without any. */
    firstAt: one(
      `SELECT min(at) AS at FROM (
         SELECT min(observed_at) AS at FROM (SELECT observed_at FROM observations ORDER BY seq LIMIT 1)
         UNION ALL SELECT min(first_at) FROM archive_objects
           WHERE kind IN ('observations', 'observations_open') AND "rows" > 0)`,
      orNull(integer),
    ),
    newestAt: one('SELECT observed_at AS at FROM observations ORDER BY seq DESC LIMIT 1', integer),
    /** Hostnames watched by the operator, by path, after a path. */
    hosts: all(
      `SELECT id, hostname, path FROM hostnames WHERE path > ? AND state = 'watched' AND kept = 1 ORDER BY path LIMIT ?`,
      HOST,
    ),
    /**
     * The numbers and times (ms) of a host's observations, still in the database, on the day that begins at `start`
     * (ms).
     */
    observedOn: (host: number, start: number) => observed(host, start, start + DAY),
  };
}
