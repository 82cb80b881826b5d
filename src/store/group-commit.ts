import type { Db } from './open.ts';

/** How long the works of one transaction may take before the rest goes into the next one, in ms: readers of this process wait that long. */
const GROUP_LASTS = 8;

interface Waiting {
  /** Does the work, and gives what settles its promise once it is on the disk. Throws when the transaction itself is lost. */
  run(): () => void;
  reject(error: unknown): void;
}

/** Small writes of many callers, done in few transactions: a commit waits for the disk, however little it holds. */
export interface GroupCommit {
  /**
   * Does `work` in a transaction that it shares with others of about the same
   * time, and resolves when that is on the disk. A work that throws is undone by
   * itself. It runs later, not at once: it takes the time, and looks at what
   * decides it, when it is run.
   */
  add<T>(work: () => T): Promise<T>;
  /** Does at once what waits. */
  flush(): void;
}

/** `faultOf` names what a database's error means and its cure. */
export function groupCommit(
  db: Db,
  transact: <T>(work: () => T) => T,
  faultOf: (error: unknown) => unknown,
): GroupCommit {
  const begin = db.prepare('SAVEPOINT one');
  const keep = db.prepare('RELEASE one');
  const undo = db.prepare('ROLLBACK TO one');
  const waiting: Waiting[] = [];
  let isPlanned = false;

  const plan = (): void => {
    if (isPlanned || waiting.length === 0) return;
    isPlanned = true;
    // What came in together, and what comes in while a commit waits for the disk, is one group.
    setImmediate(() => {
      isPlanned = false;
      commit();
      plan();
    });
  };

  const commit = (): void => {
    const group: Waiting[] = [];
    try {
      const settled = transact(() => {
        const settle: (() => void)[] = [];
        const end = performance.now() + GROUP_LASTS;
        do {
          const next = waiting.shift();
          if (next === undefined) break;
          group.push(next);
          settle.push(next.run());
        } while (performance.now() < end);
        return settle;
      });
      for (const settle of settled) settle();
    } catch (error) {
      // The transaction could not begin, or came to nothing: nobody's work was done.
      if (group.length === 0) group.push(...waiting.splice(0));
      for (const { reject } of group) reject(error);
    }
  };

  const inItsOwn = <T>(work: () => T): T => {
    begin.run();
    try {
      const result = work();
      keep.run();
      return result;
    } catch (error) {
      // A full disk takes back the whole transaction.
      if (!db.inTransaction) throw new LostTransaction(error);
      undo.run();
      keep.run();
      throw error;
    }
  };

  return {
    add: <T>(work: () => T) =>
      new Promise<T>((resolve, reject) => {
        const run = (): (() => void) => {
          try {
            const result = inItsOwn(work);
            return () => resolve(result);
          } catch (error) {
            if (error instanceof LostTransaction) throw error.reason;
            return () => reject(faultOf(error));
          }
        };
        waiting.push({ run, reject });
        plan();
      }),
    flush() {
      while (waiting.length > 0) commit();
    },
  };
}

/** What took a whole transaction back. */
class LostTransaction extends Error {
  readonly reason: unknown;

  constructor(reason: unknown) {
    super('the transaction was taken back');
    this.reason = reason;
  }
}
