import { closeSync, fdatasync, fdatasyncSync, openSync, readSync, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { messageOf } from '../fault.ts';
import type { GroupCommit } from './group-commit.ts';
import { groupCommit } from './group-commit.ts';
import type { Db } from './open.ts';
import { cannotWrite, IN_MEMORY } from './open.ts';
import type { Transact } from './sql.ts';

const syncOf = promisify(fdatasync);

/** The result of work that is committed, and when it is on disk. */
export interface Late<T> {
  result: T;
  /** Resolves when a power cut cannot take the work back. Rejects when the disk fails. Always await it. */
  synced: Promise<void>;
}

/**
 * Commits groups whose way to the disk holds up nobody: SQLite leaves them in the write-ahead log, which one of libuv's
 * threads then syncs. A commit in the log is only lost in a power cut, with everything after it.
 */
export interface LateCommit {
  /** Like `GroupCommit.add`, but resolves before the disk has the commit. */
  add<T>(work: () => T): Promise<Late<T>>;
  /** Counts since the database was opened. */
  counts(): LateCounts;
  /** Runs all waiting work at once, and waits for the disk. */
  close(): void;
}

export interface LateCounts {
  /** Work that is committed, and work of it that is not on disk yet. */
  added: number;
  waiting: number;
  /** Syncs that have ended, and how long they took together, in ms. */
  syncs: number;
  sync_ms: number;
}

export function lateCommit(db: Db, file: string, transact: Transact, faultOf: (error: unknown) => unknown): LateCommit {
  const isOnDisk = file !== IN_MEMORY;
  // The log exists, and is the same file, from the first write until the connection is closed.
  let fd: number | null = null;
  const openLog = (): number => {
    fd ??= openSync(`${file}-wal`, 'r+');
    return fd;
  };
  let hasCommitted = false;
  let isClosed = false;
  const unsynced: Transact = (work) => {
    if (!isOnDisk) return transact(work);
    hasCommitted = true;
    db.exec('PRAGMA synchronous = NORMAL');
    try {
      return transact(work);
    } finally {
      db.exec('PRAGMA synchronous = FULL');
    }
  };
  const group: GroupCommit = groupCommit(db, unsynced, faultOf);

  const counts: LateCounts = { added: 0, waiting: 0, syncs: 0, sync_ms: 0 };
  let running = Promise.resolve();
  let next: Promise<void> | null = null;
  /**
   * Writes the log as it is. A kernel drops what it could not write, and no later sync tries that again: a hole in the
   * log would take all later commits with it.
   */
  const writeAgain = (): void =>
    transact(() => {
      const part = Buffer.allocUnsafe(1 << 20);
      for (let at = 0; ; ) {
        const read = readSync(openLog(), part, 0, part.length, at);
        if (read === 0) return;
        at += writeSync(openLog(), part, 0, read, at);
      }
    });
  const sync = async (): Promise<void> => {
    if (isClosed) return;
    const start = performance.now();
    // What is added from here on waits for the next sync.
    const before = counts.added;
    try {
      await syncOf(openLog());
    } catch (error) {
      if (!isClosed) writeAgain();
      throw cannotWrite(file, messageOf(error));
    }
    counts.syncs++;
    counts.sync_ms += performance.now() - start;
    counts.waiting = counts.added - before;
  };
  /** Resolves when all that is committed now is on disk. A sync that has begun may miss it, so callers share the next. */
  const synced = (): Promise<void> => {
    next ??= running
      .catch(() => undefined)
      .then(() => {
        next = null;
        running = sync();
        return running;
      });
    return next;
  };

  return {
    async add(work) {
      const result = await group.add(work);
      counts.added++;
      if (isOnDisk) counts.waiting++;
      return { result, synced: isOnDisk ? synced() : Promise.resolve() };
    },
    counts: () => ({ ...counts }),
    close() {
      group.flush();
      isClosed = true;
      if (!hasCommitted) return;
      fdatasyncSync(openLog());
      closeSync(openLog());
    },
  };
}
