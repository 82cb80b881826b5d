import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, constants, getPriority, setPriority } from 'node:os';
import Database from 'libsql/promise';
import { text } from './columns.ts';
import { BUSY_TIMEOUT } from './open.ts';
import { ROWS_IN_ONE, rowsIn } from './pieces.ts';
import type { Found, Question } from './search-reads.ts';
import { answersIn, BY_ROW_ID, BY_TIME, questionsText } from './search-reads.ts';

/** A question of a caller. */
export interface Asked {
  question: Question;
  /** Of which ids found the rows are wanted too. */
  wanted(ids: readonly string[]): string[];
}

/** A connection that answers some questions at a time, while this thread goes on. */
export interface SearchReader {
  /**
   * Answers all of these questions, in their order. Rejects with the error of the database, which may be that of any of
   * them; its code is `INTERRUPTED` after `interrupt`.
   */
  found(asked: readonly Asked[]): Promise<Found[]>;
  /** Ends the questions that are being answered, if that has begun. */
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

// libSQL starts its threads with the first connection: at least one for each that a pool opens on a small machine, so
// that no question waits for the slowest.
// biome-ignore lint/style/noProcessEnv: not our setting, but that of libSQL's runtime.
process.env.TOKIO_WORKER_THREADS ??= `${Math.max(3, availableParallelism())}`;

/** A statement of libSQL: its first row is found on a thread of libSQL's own. */
interface Statement {
  raw(): Statement;
  all(params: readonly unknown[]): Promise<unknown[][]>;
}

/** Opens a connection that answers each question with so many ids at most. */
export function openSearchReader(file: string, limit: number): SearchReader {
  const db = new Database(file, {});
  yieldToOthers();
  const opened = open(db);
  // Whoever asks is told; nobody may ask.
  opened.catch(() => undefined);
  const answers = async (statement: Statement, questions: readonly Question[]) => {
    const [[answered] = []] = await statement.all([questionsText(questions), limit]);
    return answersIn(text(answered));
  };
  return {
    async found(asked) {
      const { byRowId, byTime, rows } = await opened;
      const questions = asked.map(({ question }) => question);
      const quick = await answers(byRowId, questions);
      const outOfOrder = questions.filter((_, at) => quick[at]?.isOutOfOrder);
      const ordered = outOfOrder.length === 0 ? [] : await answers(byTime, outOfOrder);
      const answered = quick.map((answer) => (answer.isOutOfOrder ? (ordered.shift() ?? answer) : answer));
      const wanted = asked.map((one, at) => one.wanted(answered[at]?.ids ?? []));
      const ids = new Set(wanted.flat());
      const [[json] = []] = ids.size === 0 ? [] : await rows.all([JSON.stringify([...ids])]);
      const read = new Map((json === undefined ? [] : rowsIn(text(json))).map((row) => [row.id, row]));
      return answered.map(({ edition, ids }, at) => ({
        edition,
        ids,
        rows: (wanted[at] ?? []).flatMap((id) => read.get(id) ?? []),
      }));
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
