import { type Db, isInTransaction, type Transact } from './sql.ts';

/**
 * The time limit for the work of one transaction, in ms, because it blocks this process. The rest goes into the next
 * one.
 */
const GROUP_TIME_MAX = 8;
/** At least this many writes share a commit, even beyond that time: more commits would take longer still. */
export const GROUP_LEAST = 24;
/** The most input of a transaction that several writes share, in bytes: two DNS messages of maximum size. */
const GROUP_BYTES = 2 * 65_536;

interface Waiting {
  /** The size of the input. */
  bytes: number;
  /**
   * Runs the work. Returns a function that settles its promise after the commit. Throws when the transaction itself was
   * rolled back.
   */
  run(): () => void;
  reject(error: unknown): void;
}

/**
 * Combines small writes of many callers into few transactions, because every commit waits for the disk, however small
 * it is. `faultOf` turns a database's error into a fault.
 */
export function groupCommit(db: Db, transact: Transact, faultOf: (error: unknown) => unknown) {
  const begin = db.prepare('SAVEPOINT one');
  const keep = db.prepare('RELEASE one');
  const undo = db.prepare('ROLLBACK TO one');
  const waiting: Waiting[] = [];
  let isPlanned = false;

  const plan = (): void => {
    if (isPlanned || waiting.length === 0) return;
    isPlanned = true;
    // Work that arrives together, or while a commit waits for the disk, forms one group.
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
        const end = performance.now() + GROUP_TIME_MAX;
        let bytes = 0;
        do {
          const next = waiting.shift();
          if (next === undefined) break;
          group.push(next);
          bytes += next.bytes;
          settle.push(next.run());
        } while (
          (group.length < GROUP_LEAST || performance.now() < end) &&
          bytes + (waiting[0]?.bytes ?? 0) <= GROUP_BYTES
        );
        return settle;
      });
      for (const settle of settled) settle();
    } catch (error) {
      // The transaction could not begin or was rolled back, so none of the work was done.
      if (group.length === 0) group.push(...waiting.splice(0));
      for (const { reject } of group) reject(error);
    }
  };

  const inSavepoint = <T>(work: () => T): T => {
    begin.run();
    try {
      const result = work();
      keep.run();
      return result;
    } catch (error) {
      // A full disk rolls back the whole transaction.
      if (isInTransaction(db)) {
        undo.run();
        keep.run();
      }
      throw error;
    }
  };

  return {
    /**
     * Runs `work` in a transaction shared with other work of about the same time, and resolves after the commit. If
     * `work` throws, only its own changes are rolled back. It runs later, so it must read the clock and check its
     * conditions itself. `bytes` is the size of its input: the larger it is, the less other work is in its transaction.
     */
    add: <T>(work: () => T, bytes = 0): Promise<T> =>
      new Promise((resolve, reject) => {
        const run = (): (() => void) => {
          try {
            const result = inSavepoint(work);
            return () => resolve(result);
          } catch (error) {
            if (!isInTransaction(db)) throw error;
            return () => reject(faultOf(error));
          }
        };
        waiting.push({ bytes, run, reject });
        plan();
      }),
    /** Runs all waiting work immediately. */
    flush(): void {
      while (waiting.length > 0) commit();
    },
  };
}
