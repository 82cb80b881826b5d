import type { Signing } from './signing.ts';

/** Jobs that begin once the server is ready, so that neither the start nor the first requests wait for their work. */
export class LateJobs {
  readonly #startJob: Signing['startJob'];
  /** What waits for the server; null once it is ready. */
  #waiting: (() => void)[] | null = [];

  constructor(startJob: Signing['startJob']) {
    this.#startJob = startJob;
  }

  /** Starts a job when the server is ready. Returns a function that stops it, or keeps it from starting. */
  readonly startJob: Signing['startJob'] = (start) => {
    if (this.#waiting === null) return this.#startJob(start);
    let stop: (() => Promise<void>) | null = null;
    let isStopped = false;
    this.#waiting.push(() => {
      if (!isStopped) stop = this.#startJob(start);
    });
    return async () => {
      isStopped = true;
      await stop?.();
    };
  };

  /** The server is ready. Throws when a job cannot be started. */
  begin(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = null;
    for (const start of waiting) start();
  }
}
