import { once } from 'node:events';
import { join } from 'node:path';
import { isTree } from '../files/tree.ts';
import type { PressReport } from '../press/press.ts';
import type { AppContext } from './context.ts';
import { eventLoop } from './event-loop.ts';
import { pressPapers } from './press-run.ts';

/** How many papers this process presses at a time: each takes a connection, and a large one a thread for each core. */
const AT_A_TIME = 2;

/** A paper's press under way, and the one that follows it for those who came since. */
interface QueueEntry {
  now: Promise<PressReport | null>;
  next: Promise<PressReport | null> | null;
  /** Whether it has its turn: until then it is early enough for whoever comes. */
  hasBegun: boolean;
  /** Whether somebody waits for it. */
  isAwaited: boolean;
  /** Gives it its turn, while it waits for one. */
  begin: (() => void) | null;
}

/** How long a press may go on when the server stops, in ms; a longer one is finished by the next start. */
const SHUTDOWN_GRACE = 5_000;

/**
 * The presses of this process, one a paper at a time. Who asks while one is
 * under way may have come too late for it: the next one is for all of them.
 */
export class PressQueue {
  readonly #app: AppContext;
  readonly #lines = new Map<string, QueueEntry>();
  #running = 0;
  readonly #syncing = new Set<Promise<void>>();
  readonly #stop = new AbortController();

  constructor(app: AppContext) {
    this.#app = app;
  }

  /**
   * Presses what the paper owes now; null when there was nothing left to press.
   * With `first`, somebody waits for it, and its turn comes before those of others.
   */
  press(paper: string, { first = false } = {}): Promise<PressReport | null> {
    const line = this.#lines.get(paper);
    if (line === undefined) return this.#start(paper, first);
    if (!line.hasBegun) {
      line.isAwaited ||= first;
      return line.now;
    }
    line.next ??= line.now.then(
      () => this.#start(paper, first),
      () => this.#start(paper, first),
    );
    return line.next;
  }

  /** Whether the paper has a tree that readers may see. */
  isShown(paper: string): boolean {
    return isTree(join(this.#app.settings.distDir, paper));
  }

  /** Whether a press of the paper is under way in this process. */
  isPressing(paper: string): boolean {
    return this.#lines.has(paper);
  }

  /**
   * Resolves when all that was marked up to a number is on disk, with how many
   * files the press changed that put it there. Throws what that press threw.
   */
  async pressedUntil(paper: string, number: number): Promise<number> {
    const { manifest } = this.#app.store;
    // Another process may have pressed it, or left the cards of it to a later press.
    while (!manifest.isPressed(paper, number)) await this.press(paper, { first: true });
    return manifest.filesChangedBy(paper, number);
  }

  /** Waits for the presses under way, but not for ever: what is not finished is marked, and what is not synced is noted. */
  async close(): Promise<void> {
    const timer = setTimeout(() => this.#stop.abort(), SHUTDOWN_GRACE);
    while (this.#lines.size > 0) {
      await Promise.allSettled([...this.#lines.values()].map(({ now, next }) => next ?? now));
    }
    const { signal } = this.#stop;
    if (!signal.aborted) await Promise.race([Promise.all(this.#syncing), once(signal, 'abort')]);
    clearTimeout(timer);
  }

  /** Runs work when it is the line's turn. */
  async #inTurn<T>(paper: string, line: QueueEntry, work: () => Promise<T>): Promise<T> {
    if (this.#running < AT_A_TIME) this.#running++;
    else await new Promise<void>((begin) => Object.assign(line, { begin }));
    line.hasBegun = true;
    const ended = eventLoop.began({ job: 'press', paper });
    try {
      return await work();
    } finally {
      ended();
      // The turn goes to the next one, first to what somebody waits for; or it is free.
      const waiting = [...this.#lines.values()].filter(({ begin }) => begin !== null);
      const next = waiting.find(({ isAwaited }) => isAwaited) ?? waiting[0];
      if (next === undefined) this.#running--;
      else this.#begin(next);
    }
  }

  /** Gives a waiting line its turn, once. */
  #begin(line: QueueEntry): void {
    const { begin } = line;
    line.begin = null;
    begin?.();
  }

  #start(paper: string, first: boolean): Promise<PressReport | null> {
    const later = (work: Promise<void>) => {
      this.#syncing.add(work);
      void work.then(() => this.#syncing.delete(work));
    };
    const line: QueueEntry = { now: Promise.resolve(null), next: null, hasBegun: false, isAwaited: first, begin: null };
    this.#lines.set(paper, line);
    const turn = <T>(work: () => Promise<T>) => this.#inTurn(paper, line, work);
    const options = { paper, later, turn, signal: this.#stop.signal };
    line.now = pressPapers(this.#app, options).then((reports) => reports.get(paper) ?? null);
    const end = () => {
      if (line.next === null && this.#lines.get(paper) === line) this.#lines.delete(paper);
    };
    line.now.then(end, end);
    return line.now;
  }
}
