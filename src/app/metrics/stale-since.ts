/** For how long papers have waited for a press. */
export class StaleSince {
  /** By paper: when it was first seen waiting (ms of the monotonic clock), and the mark that was pressed then. */
  #seen = new Map<string, { at: number; pressed: number }>();
  readonly #now: () => number;

  /** `now` is the monotonic clock, in ms. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * The longest wait, in ms, given the papers that wait and the mark up to which each was pressed. A finished press
   * restarts a paper's wait, because a busy paper always waits for something.
   */
  longest(waiting: readonly { paper: string; pressed: number }[]): number {
    const now = this.#now();
    const seen = new Map<string, { at: number; pressed: number }>();
    for (const { paper, pressed } of waiting) {
      const before = this.#seen.get(paper);
      seen.set(paper, before?.pressed === pressed ? before : { at: now, pressed });
    }
    this.#seen = seen;
    return Math.max(0, ...[...seen.values()].map(({ at }) => now - at));
  }
}
