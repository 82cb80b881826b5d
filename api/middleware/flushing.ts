import { isLocked } from '../../src/shared/fault.ts';

/** How often it writes, in ms. */
const EVERY = 10_000;

/** Writes remembered values periodically, and at the end. */
export class Flushing {
  readonly #flush: () => void;
  readonly #failed: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout;

  /** `failed` is called with the first error since something was written. */
  constructor(flush: () => void, failed: (error: unknown) => void) {
    this.#flush = flush;
    this.#failed = failed;
    let isReported = false;
    this.#timer = setInterval(() => {
      try {
        flush();
        isReported = false;
      } catch (error) {
        // The server's log reports a held lock.
        if (isLocked(error)) return;
        if (!isReported) failed(error);
        isReported = true;
      }
    }, EVERY);
    this.#timer.unref();
  }

  /** Writes if it can. A stopping server does not wait for the values of the last seconds. */
  close(): void {
    clearInterval(this.#timer);
    try {
      this.#flush();
    } catch (error) {
      this.#failed(error);
    }
  }
}
