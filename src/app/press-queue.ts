import { once } from 'node:events';
import { join } from 'node:path';
import { isTree } from '../files/tree.ts';
import type { AppContext } from './context.ts';
import { eventLoop } from './event-loop.ts';
import { measurements } from './measurements.ts';
import type { PaperReport } from './press-run.ts';
import { pressPapers } from './press-run.ts';

/** How many papers this process presses at a time: each needs a connection, and a large one needs a thread per core. */
const CONCURRENCY = 2;

/** A paper's press, and the next one, for requests that arrived after the current one began. */
interface QueueEntry {
  current: Promise<PaperReport | null>;
  next: Promise<PaperReport | null> | null;
  /** Whether it has begun. Until then it serves every new request. */
  hasBegun: boolean;
  /** Whether a caller waits for it; if so, it runs first. */
  isUrgent: boolean;
  /** Starts the press; null unless it waits for its turn. */
  begin: (() => void) | null;
}

/** How long running presses may continue on shutdown, in ms. The next start finishes the remaining work. */
const SHUTDOWN_GRACE = 5_000;

/**
 * The presses of this process, one at a time for each paper. Requests during a press share the next one: it may have
 * missed their changes.
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

  /** Presses what is stale of a paper; null when nothing is. `urgent` overtakes papers that no caller waits for. */
  press(paper: string, { urgent = false } = {}): Promise<PaperReport | null> {
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

  /** How many papers are being pressed, and how many wait for their turn. */
  get load(): { running: number; waiting: number } {
    const waiting = [...this.#entries.values()].filter(({ hasBegun }) => !hasBegun).length;
    return { running: this.#running, waiting };
  }

  /** Whether the paper has a public tree. */
  isShown(paper: string): boolean {
    return isTree(join(this.#app.settings.distDir, paper));
  }

  /** Whether this process is pressing the paper. */
  isPressing(paper: string): boolean {
    return this.#entries.has(paper);
  }

  /**
   * Resolves with the number of files changed when all marks up to `number` are on disk. Rejects as that press does.
   */
  async pressedUntil(paper: string, number: number): Promise<number> {
    const { manifest } = this.#app.store;
    // Another process may have pressed the paper, or deferred its cards to a later press.
    while (!manifest.isPressed(paper, number)) await this.press(paper, { urgent: true });
    return manifest.filesChangedBy(paper, number);
  }

  /** Waits up to `SHUTDOWN_GRACE` for running presses. What is unfinished or not synced is recorded as such. */
  async close(): Promise<void> {
    const timer = setTimeout(() => this.#stop.abort(), SHUTDOWN_GRACE);
    while (this.#entries.size > 0) {
      await Promise.allSettled([...this.#entries.values()].map(({ current, next }) => next ?? current));
    }
    const { signal } = this.#stop;
    if (!signal.aborted) await Promise.race([Promise.all(this.#syncing), once(signal, 'abort')]);
    clearTimeout(timer);
  }

  /** Runs `work` when the entry's turn comes. */
  async #inTurn<T>(paper: string, entry: QueueEntry, work: () => Promise<T>): Promise<T> {
    if (this.#running < CONCURRENCY) this.#running++;
    else await new Promise<void>((begin) => Object.assign(entry, { begin }));
    entry.hasBegun = true;
    const ended = eventLoop.began({ job: 'press', paper });
    try {
      return await work();
    } finally {
      ended();
      // Pass the turn to the next waiting entry, urgent ones first, or free it.
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

  #start(paper: string, urgent: boolean): Promise<PaperReport | null> {
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
    let ms = 0;
    const timed =
      <T>(work: () => Promise<T>) =>
      async (): Promise<T> => {
        const start = performance.now();
        try {
          return await work();
        } finally {
          ms += performance.now() - start;
        }
      };
    const turn = <T>(work: () => Promise<T>) => this.#inTurn(paper, entry, timed(work));
    const options = { paper, later, turn, fewPictures: true, signal: this.#stop.signal };
    entry.current = pressPapers(this.#app, options).then((reports) => reports.get(paper) ?? null);
    const end = () => {
      if (entry.next === null && this.#entries.get(paper) === entry) this.#entries.delete(paper);
    };
    entry.current.then(end, end);
    entry.current.then(
      (report) => {
        if (report !== null) measurements.emit('press', { outcome: 'pressed', ms, ...report });
      },
      () => {
        if (!this.#stop.signal.aborted)
          measurements.emit('press', { outcome: 'failed', full: false, ms, written: 0, removed: 0 });
      },
    );
    return entry.current;
  }
}
