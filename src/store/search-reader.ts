import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, constants, getPriority, setPriority } from 'node:os';
import Database from 'libsql/promise';
import { integer, orNull, text } from './columns.ts';
import { BUSY_TIMEOUT } from './open.ts';
import { ROWS_IN_ONE, rowsIn } from './pieces.ts';
import type { Found, Question } from './search-reads.ts';
import { BY_ROW_ID, BY_TIME, foundIn } from './search-reads.ts';

/** A connection that answers one question at a time, while this thread goes on. */
export interface SearchReader {
  /**
   * Answers with the rows of those ids that are `wanted`, too. Rejects with the error of the database; its code is
   * `INTERRUPTED` after `interrupt`.
   */
  found(question: Question, wanted?: (ids: readonly string[]) => string[]): Promise<Found>;
  /** Ends the question that is being answered, if it has begun. */
  interrupt(): void;
  /** Call it when no question is being answered. */
  close(): void;
}

/** SQLite's code for a statement that was interrupted. */
export const INTERRUPTED = 'SQLITE_INTERRUPT';

/** What each connection is set to: it only reads, and its cache is small. */
const PRAGMAS = [`busy_timeout = ${BUSY_TIMEOUT}`, 'query_only = ON', 'cache_size = -8192'];

/** How much nicer libSQL's threads are than the one that answers all requests. */
const NICER = 5;

// libSQL starts its threads with the first connection. On a single core one alone would have every question wait for
// the slowest.
// biome-ignore lint/style/noProcessEnv: not our setting, but that of libSQL's runtime.
process.env.TOKIO_WORKER_THREADS ??= `${Math.max(2, availableParallelism())}`;

/** A statement of libSQL: its first row is found on a thread of libSQL's own. */
interface Statement {
  raw(): Statement;
  all(params: readonly unknown[]): Promise<unknown[][]>;
}

export function openSearchReader(file: string): SearchReader {
  const db = new Database(file, {});
  yieldToOthers();
  const opened = open(db);
  // Whoever asks is told; nobody may ask.
  opened.catch(() => undefined);
  const first = async (statement: Statement, { paper, match, limit }: Question) => {
    const [row = []] = await statement.all([paper, match, limit]);
    const [edition, ids, tangled] = row;
    return { edition: orNull(integer)(edition), ids: orNull(text)(ids), isTangled: tangled === 1 };
  };
  return {
    async found(question, wanted = () => []) {
      const { byRowId, byTime, rows } = await opened;
      const row = await first(byRowId, question);
      const found = foundIn(row.isTangled ? await first(byTime, question) : row);
      const ids = wanted(found.ids);
      if (ids.length === 0) return found;
      const [[json] = []] = await rows.all([JSON.stringify(ids)]);
      return { ...found, rows: rowsIn(text(json)) };
    },
    interrupt: () => db.interrupt(),
    close: () => db.close(),
  };
}

async function open(db: Database): Promise<Record<'byRowId' | 'byTime' | 'rows', Statement>> {
  for (const pragma of PRAGMAS) await db.exec(`PRAGMA ${pragma}`);
  const prepared = async (text: string): Promise<Statement> => (await db.prepare(text)).raw();
  return { byRowId: await prepared(BY_ROW_ID), byTime: await prepared(BY_TIME), rows: await prepared(ROWS_IN_ONE) };
}

/**
 * Lowers the priority of libSQL's threads on Linux, where a thread has one of its own. They run nothing but searches:
 * all other statements run on the thread that calls them.
 */
function yieldToOthers(): void {
  if (process.platform !== 'linux') return;
  try {
    const nice = Math.min(constants.priority.PRIORITY_LOW, getPriority() + NICER);
    for (const thread of readdirSync('/proc/self/task')) {
      const name = readFileSync(`/proc/self/task/${thread}/comm`, 'utf8');
      if (name.startsWith('tokio-')) setPriority(Number(thread), nice);
    }
  } catch {
    // Some containers forbid it. The threads search all the same.
  }
}
