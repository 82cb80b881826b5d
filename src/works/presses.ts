import { once } from 'node:events';
import { join } from 'node:path';
import type { PressReport } from '../press/press.ts';
import { isTree } from '../press/tree.ts';
import { pressPapers } from './press-papers.ts';
import type { Workshop } from './workshop.ts';

/** A paper's press under way, and the one that follows it for those who came since. */
interface Line {
  now: Promise<PressReport | null>;
  next: Promise<PressReport | null> | null;
}

/** How long a press may go on when the server stops, in ms; a longer one is finished by the next start. */
const GRACE = 5_000;

/**
 * The presses of this process, one a paper at a time. Who asks while one is
 * under way may have come too late for it: the next one is for all of them.
 */
export class Presses {
  readonly #shop: Workshop;
  readonly #lines = new Map<string, Line>();
  readonly #syncing = new Set<Promise<void>>();
  readonly #stop = new AbortController();

  constructor(shop: Workshop) {
    this.#shop = shop;
  }

  /** Presses what the paper owes now; null when there was nothing left to press. */
  press(paper: string): Promise<PressReport | null> {
    const line = this.#lines.get(paper);
    if (line === undefined) return this.#start(paper);
    line.next ??= line.now.then(
      () => this.#start(paper),
      () => this.#start(paper),
    );
    return line.next;
  }

  /** Whether the paper has a tree that readers may see. */
  isShown(paper: string): boolean {
    return isTree(join(this.#shop.settings.distDir, paper));
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
    const { manifest } = this.#shop.store;
    // Another process may have pressed it, or left the cards of it to a later press.
    while (!manifest.isPressed(paper, number)) await this.press(paper);
    return manifest.filesOf(paper, number);
  }

  /** Waits for the presses under way, but not for ever: what is not finished is marked, and what is not synced is noted. */
  async close(): Promise<void> {
    const timer = setTimeout(() => this.#stop.abort(), GRACE);
    while (this.#lines.size > 0) {
      await Promise.allSettled([...this.#lines.values()].map(({ now, next }) => next ?? now));
    }
    const { signal } = this.#stop;
    if (!signal.aborted) await Promise.race([Promise.all(this.#syncing), once(signal, 'abort')]);
    clearTimeout(timer);
  }

  #start(paper: string): Promise<PressReport | null> {
    const later = (work: Promise<void>) => {
      this.#syncing.add(work);
      void work.then(() => this.#syncing.delete(work));
    };
    const now = pressPapers(this.#shop, { paper, later, signal: this.#stop.signal }).then(
      (reports) => reports.get(paper) ?? null,
    );
    const line: Line = { now, next: null };
    this.#lines.set(paper, line);
    const end = () => {
      if (line.next === null && this.#lines.get(paper) === line) this.#lines.delete(paper);
    };
    now.then(end, end);
    return now;
  }
}
