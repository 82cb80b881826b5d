import { openSync, readSync, realpathSync } from 'node:fs';
import { text } from './columns.ts';
import { type DatabaseSettings, type Db, IN_MEMORY } from './open.ts';
import { sql } from './sql.ts';

/** The first numbers of the index of the write-ahead log (sqlite.org/walformat.html, section 2.1), 32 bits each. */
const HEADER = 12;
/** The first of them names this format. */
const FORMAT = 3_007_000;

/**
 * Returns a function whose number grows when anything was committed since the last call, by any process. Null when this
 * cannot be known: ask the database then. SQLite itself compares the same header to learn whether what it keeps in memory
 * is still true, but takes locks before, which take ten times as long.
 */
export function commitMark(db: Db, { file }: Pick<DatabaseSettings, 'file'>): () => number | null {
  let index: number | null | undefined;
  let [header, last] = [new Uint32Array(HEADER), new Uint32Array(HEADER)];
  let mark = 0;
  return () => {
    if (index === undefined) index = openIndex(db, file);
    // Within a transaction, a query may see more or less than what is committed.
    if (index === null || !db.open || db.inTransaction) return null;
    readSync(index, header, 0, header.byteLength, 0);
    if (header[0] !== FORMAT) return null;
    if (header.every((number, at) => number === last[at])) return mark;
    [header, last] = [last, header];
    return ++mark;
  };
}

/**
 * Opens the index of the write-ahead log. Nothing closes it: with the first descriptor of a file that is closed, POSIX
 * drops all locks of this process on that file, also those of SQLite.
 */
function openIndex(db: Db, file: string): number | null {
  if (file === IN_MEMORY || sql(db).one('PRAGMA journal_mode', text)() !== 'wal') return null;
  try {
    return openSync(`${realpathSync(file)}-shm`, 'r');
  } catch {
    return null;
  }
}
