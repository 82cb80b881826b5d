import { isLocked } from '../fault.ts';
import { BUSY_TIMEOUT, type DatabaseSettings, IN_MEMORY, lockedFault } from './open.ts';
import { beginWriting, type Db, onLocked } from './sql.ts';

/** How long a statement waits for the lock while nothing else runs on its thread, in ms: longer than most writes take. */
const SHARED_WAIT = 100;
/** How often a held lock is checked, in ms. */
const CHECK_EVERY = 50;
/** A lock that is held for longer than this is logged, in ms. */
const REPORTED_AFTER = 1_000;

/** Called when the lock has been held for a second, and when it is free again, with how long it was held, in ms. */
export interface LockEvents {
  held(): void;
  freed(ms: number): void;
}

interface Waiting {
  /** When it gives up, in ms of the monotonic clock. */
  until: number;
  settle(isFree: boolean): void;
}

/**
 * The write lock of the database, which another process may hold for any length of time. SQLite waits for it on the
 * calling thread. A command may wait like that; a server would stop answering. So while the thread is shared, the first
 * statement waits briefly, and after that every write fails immediately until a check finds the lock free.
 */
export class WriteLock {
  readonly #db: Db;
  readonly #file: string;
  readonly #waiting = new Set<Waiting>();
  #events: LockEvents | null = null;
  /** The timer that checks the lock while another process holds it. */
  #timer: NodeJS.Timeout | null = null;
  #heldSince = 0;
  #isReported = false;
  #timeouts = 0;
  /** When all waits end, in ms of the monotonic clock. */
  #end = Number.POSITIVE_INFINITY;

  constructor(db: Db, { file }: Pick<DatabaseSettings, 'file'>) {
    this.#db = db;
    this.#file = file;
    onLocked(db, () => this.#onLocked());
  }

  /** From now on the thread is shared with other work, as in a server. Returns a function that ends this. */
  share(events: LockEvents): () => void {
    if (this.#file === IN_MEMORY) return () => {};
    this.#events = events;
    this.#end = Number.POSITIVE_INFINITY;
    this.#wait(SHARED_WAIT);
    return () => {
      this.#events = null;
      this.#stopChecking(false);
      this.#wait(BUSY_TIMEOUT);
    };
  }

  /** Whether another process is known to hold the lock. */
  get isHeld(): boolean {
    return this.#timer !== null;
  }

  /** How long another process is known to have held the lock, in ms; 0 while it is free. */
  heldFor(): number {
    return this.isHeld ? performance.now() - this.#heldSince : 0;
  }

  /** How many writes timed out waiting for it. */
  get timeouts(): number {
    return this.#timeouts;
  }

  /** Like `isHeld`, but checks: perhaps nothing has tried to write since another process took the lock. */
  isHeldNow(): boolean {
    if (this.#events === null || this.isHeld) return this.isHeld;
    try {
      beginWriting(this.#db);
      this.#db.exec('ROLLBACK');
    } catch {
      // `onLocked` has noted a held lock by now. Other errors concern only writers.
    }
    return this.isHeld;
  }

  /** Limits all waits, also later ones, to `BUSY_TIMEOUT` from now, because the process ends. */
  hurry(): void {
    this.#end = Math.min(this.#end, performance.now() + BUSY_TIMEOUT);
  }

  /** Resolves when the lock is not known to be held. Throws `LockedFault` after `patience` ms. */
  async free(patience = BUSY_TIMEOUT): Promise<void> {
    if (!this.isHeld) return;
    const isFree = await new Promise<boolean>((settle) => {
      this.#waiting.add({ until: performance.now() + patience, settle });
    });
    if (isFree) return;
    this.#timeouts++;
    throw lockedFault(this.#file);
  }

  /**
   * Runs `work`, and again when the lock is free if it did not get the lock, for `patience` ms. It must begin with a
   * write, and have done nothing when that fails.
   */
  async patiently<T>(work: () => T | Promise<T>, patience = BUSY_TIMEOUT): Promise<T> {
    const end = performance.now() + patience;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!isLocked(error) || !this.isHeld) throw error;
        await this.free(end - performance.now());
      }
    }
  }

  /** A write did not get the lock. */
  #onLocked(): void {
    if (this.#events === null || this.isHeld) return;
    this.#heldSince = performance.now();
    this.#isReported = false;
    this.#wait(0);
    this.#timer = setInterval(() => this.#check(), CHECK_EVERY);
  }

  #check(): void {
    if (!this.#isTaken()) {
      this.#stopChecking(true);
      this.#wait(SHARED_WAIT);
      return;
    }
    const now = performance.now();
    if (!this.#isReported && now - this.#heldSince > REPORTED_AFTER) {
      this.#isReported = true;
      this.#events?.held();
    }
    for (const one of this.#waiting) {
      if (now < Math.min(one.until, this.#end)) continue;
      this.#waiting.delete(one);
      one.settle(false);
    }
  }

  #isTaken(): boolean {
    try {
      this.#db.exec('BEGIN IMMEDIATE; ROLLBACK');
      return false;
    } catch (error) {
      // Other errors concern only writers.
      return isLocked(error);
    }
  }

  #stopChecking(isFree: boolean): void {
    if (this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
    if (this.#isReported) this.#events?.freed(performance.now() - this.#heldSince);
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const { settle } of waiting) settle(isFree);
  }

  #wait(ms: number): void {
    this.#db.exec(`PRAGMA busy_timeout = ${ms}`);
  }
}
