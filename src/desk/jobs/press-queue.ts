import { once } from 'node:events';
import { join } from 'node:path';
import type { AppContext } from '../../server/context.ts';
import { eventLoop } from '../../shared/workers/event-loop.ts';
import { measurements } from '../../shared/workers/measurements.ts';
import { isTree } from '../press/tree.ts';
import { type PaperReport, pressPapers } from './press-run.ts';

/** Maximum number of papers pressed at a time: each needs a connection, and a large one needs a thread per core. */
const CONCURRENCY = 2;

/** A paper's press, and the next one, for requests that arrived after the current one began. */
interface QueueEntry {
  current: Promise<PaperReport | null>;
  next: Promise<PaperReport | null> | null;
  /** Whether the press has begun. Until then it serves new requests too. */
  hasBegun: boolean;
  /** Whether a caller waits for it; urgent presses run first. */
  isUrgent: boolean;
  /** Duration in ms, without the wait. */
  ms: number;
}

/** How long running presses may continue on shutdown, in ms. After the next start, the remaining work is done. */
const SHUTDOWN_GRACE = 5_000;

/**
 * The presses of this process, one at a time for each paper. Requests made during a press share the next one, because
 * the running press may have missed their changes.
 */
export class PressQueue {
  readonly #app: AppContext;
  readonly #entries = new Map<string, QueueEntry>();
  #running = 0;
  readonly #waiting: { entry: QueueEntry; begin: () => void }[] = [];
  readonly #syncing = new Set<Promise<void>>();
  readonly #stop = new AbortController();

  constructor(app: AppContext) {
    this.#app = app;
  }

  /** Presses a paper's stale outputs; null when there are none. `urgent` overtakes papers that no caller waits for. */
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
   * Resolves with the number of changed files when all changes up to `number` are on disk. Rejects as that press does.
   */
  async pressedUntil(paper: string, number: number): Promise<number> {
    const {
      desk: { manifest },
    } = this.#app.store;
    // Another process may have pressed the paper, or deferred its cards to a later press.
    while (!manifest.isPressed(paper, number)) await this.press(paper, { urgent: true });
    return manifest.filesChangedBy(paper, number);
  }

  /** Waits up to `SHUTDOWN_GRACE` for running presses. Work that is unfinished or not synced stays recorded as such. */
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
    else await new Promise<void>((begin) => this.#waiting.push({ entry, begin }));
    entry.hasBegun = true;
    const ended = eventLoop.began({ job: 'press', paper });
    const start = performance.now();
    try {
      return await work();
    } finally {
      entry.ms = performance.now() - start;
      ended();
      // Pass the turn to the next waiting entry, urgent ones first, or free it.
      const urgent = this.#waiting.findIndex((waiting) => waiting.entry.isUrgent);
      const [next] = this.#waiting.splice(Math.max(0, urgent), 1);
      if (next === undefined) this.#running--;
      else next.begin();
    }
  }

  #start(paper: string, isUrgent: boolean): Promise<PaperReport | null> {
    const entry: QueueEntry = { current: Promise.resolve(null), next: null, hasBegun: false, isUrgent, ms: 0 };
    this.#entries.set(paper, entry);
    entry.current = this.#press(paper, entry);
    return entry.current;
  }

  async #press(paper: string, entry: QueueEntry): Promise<PaperReport | null> {
    const { signal } = this.#stop;
    const later = (work: Promise<void>) => {
      this.#syncing.add(work);
      void work.then(() => this.#syncing.delete(work));
    };
    const turn = <T>(work: () => Promise<T>) => this.#inTurn(paper, entry, work);
    try {
      const report =
        (await pressPapers(this.#app, { paper, later, turn, fewPictures: true, signal })).get(paper) ?? null;
      if (report !== null) measurements.emit('press', { outcome: 'pressed', ms: entry.ms, ...report });
      return report;
    } catch (error) {
      const nothing = { full: false, written: 0, removed: 0 };
      if (!signal.aborted) measurements.emit('press', { outcome: 'failed', ms: entry.ms, ...nothing });
      throw error;
    } finally {
      if (entry.next === null && this.#entries.get(paper) === entry) this.#entries.delete(paper);
    }
  }
}
