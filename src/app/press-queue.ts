import { once } from 'node:events';
import { join } from 'node:path';
import { isTree } from '../files/tree.ts';
import type { PressReport } from '../press/press.ts';
import type { AppContext } from './context.ts';
import { eventLoop } from './event-loop.ts';
import { pressPapers } from './press-run.ts';

/** How many papers this process presses at a time: each needs a connection, and a large one a thread for each core. */
const CONCURRENCY = 2;

/** A paper's press, and the one that follows it for requests that arrived since it began. */
interface QueueEntry {
  current: Promise<PressReport | null>;
  next: Promise<PressReport | null> | null;
  /** Whether it has begun: until then it serves every new request. */
  hasBegun: boolean;
  /** Whether a caller waits for it, so that it goes first. */
  isUrgent: boolean;
  /** Starts it, while it waits for its turn. */
  begin: (() => void) | null;
}

/** How long presses may go on when the server stops, in ms; the next start finishes longer ones. */
const SHUTDOWN_GRACE = 5_000;

/**
 * The presses of this process, one at a time for each paper. A request that
 * arrives while one is running may have missed its snapshot: one more press
 * serves all such requests.
 */
export class PressQueue {
  readonly #app: AppContext;
  readonly #entries = new Map<string, QueueEntry>();
  #running = 0;
  readonly #syncing = new Set<Promise<void>>();
  readonly #stop = new AbortController();

  constructor(app: AppContext) {
    this.#app = app;
  }

  /**
   * Presses what is stale of a paper; null when nothing was left to press.
   * `urgent` puts it before papers that no caller waits for.
   */
  press(paper: string, { urgent = false } = {}): Promise<PressReport | null> {
    const entry = this.#entries.get(paper);
    if (entry === undefined) return this.#start(paper, urgent);
    if (!entry.hasBegun) {
      entry.isUrgent ||= urgent;
      return entry.current;
    }
    entry.next ??= entry.current.then(
      () => this.#start(paper, urgent),
      () => this.#start(paper, urgent),
    );
    return entry.next;
  }

  /** Whether the paper has a public tree. */
  isShown(paper: string): boolean {
    return isTree(join(this.#app.settings.distDir, paper));
  }

  /** Whether a press of the paper is under way in this process. */
  isPressing(paper: string): boolean {
    return this.#entries.has(paper);
  }

  /**
   * Resolves when all marks up to a number are on disk, with the number of files
   * that the press changed. Throws what that press threw.
   */
  async pressedUntil(paper: string, number: number): Promise<number> {
    const { manifest } = this.#app.store;
    // Another process may have pressed it, or deferred its cards to a later press.
    while (!manifest.isPressed(paper, number)) await this.press(paper, { urgent: true });
    return manifest.filesChangedBy(paper, number);
  }

  /** Waits for running presses, up to `SHUTDOWN_GRACE`: unfinished outputs stay stale, and unsynced trees are noted. */
  async close(): Promise<void> {
    const timer = setTimeout(() => this.#stop.abort(), SHUTDOWN_GRACE);
    while (this.#entries.size > 0) {
      await Promise.allSettled([...this.#entries.values()].map(({ current, next }) => next ?? current));
    }
    const { signal } = this.#stop;
    if (!signal.aborted) await Promise.race([Promise.all(this.#syncing), once(signal, 'abort')]);
    clearTimeout(timer);
  }

  /** Runs work when it is the entry's turn. */
  async #inTurn<T>(paper: string, entry: QueueEntry, work: () => Promise<T>): Promise<T> {
    if (this.#running < CONCURRENCY) this.#running++;
    else await new Promise<void>((begin) => Object.assign(entry, { begin }));
    entry.hasBegun = true;
    const ended = eventLoop.began({ job: 'press', paper });
    try {
      return await work();
    } finally {
      ended();
      // The turn passes to the next entry, urgent ones first; without any it is free.
      const waiting = [...this.#entries.values()].filter(({ begin }) => begin !== null);
      const next = waiting.find(({ isUrgent }) => isUrgent) ?? waiting[0];
      if (next === undefined) this.#running--;
      else this.#begin(next);
    }
  }

  /** Starts a waiting entry, once. */
  #begin(entry: QueueEntry): void {
    const { begin } = entry;
    entry.begin = null;
    begin?.();
  }

  #start(paper: string, urgent: boolean): Promise<PressReport | null> {
    const later = (work: Promise<void>) => {
      this.#syncing.add(work);
      void work.then(() => this.#syncing.delete(work));
    };
    const entry: QueueEntry = {
      current: Promise.resolve(null),
      next: null,
      hasBegun: false,
      isUrgent: urgent,
      begin: null,
    };
    this.#entries.set(paper, entry);
    const turn = <T>(work: () => Promise<T>) => this.#inTurn(paper, entry, work);
    const options = { paper, later, turn, signal: this.#stop.signal };
    entry.current = pressPapers(this.#app, options).then((reports) => reports.get(paper) ?? null);
    const end = () => {
      if (entry.next === null && this.#entries.get(paper) === entry) this.#entries.delete(paper);
    };
    entry.current.then(end, end);
    return entry.current;
  }
}
