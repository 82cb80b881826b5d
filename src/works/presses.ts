import type { PressReport } from '../press/press.ts';
import { pressPapers } from './press-papers.ts';
import type { Workshop } from './workshop.ts';

/** A paper's press under way, and the one that follows it for those who came since. */
interface Line {
  now: Promise<PressReport | null>;
  next: Promise<PressReport | null> | null;
}

/**
 * The presses of this process, one a paper at a time. Who asks while one is
 * under way may have come too late for it: the next one is for all of them.
 */
export class Presses {
  readonly #shop: Workshop;
  readonly #lines = new Map<string, Line>();

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

  #start(paper: string): Promise<PressReport | null> {
    const now = pressPapers(this.#shop, { paper }).then((reports) => reports.get(paper) ?? null);
    const line: Line = { now, next: null };
    this.#lines.set(paper, line);
    const end = () => {
      if (line.next === null && this.#lines.get(paper) === line) this.#lines.delete(paper);
    };
    now.then(end, end);
    return now;
  }
}
