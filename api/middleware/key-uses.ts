import { isLocked } from '../../src/shared/fault.ts';

/** How often uses are written, in ms. */
const EVERY = 10_000;

/** A key table that records uses. */
interface NotesUses {
  used(uses: Iterable<[id: string, at: number]>): void;
}

/** Remembers when keys were used and writes that periodically, so that a read does not cost a write. */
export class KeyUses {
  readonly #keys: NotesUses;
  readonly #uses = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  readonly #failed: (error: unknown) => void;

  /** `failed` is called with the first error since uses were written. */
  constructor(keys: NotesUses, failed: (error: unknown) => void) {
    this.#keys = keys;
    this.#failed = failed;
    let isReported = false;
    this.#timer = setInterval(() => {
      try {
        this.flush();
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

  note(id: string, at: number): void {
    this.#uses.set(id, at);
  }

  /** Writes the remembered uses. On failure they stay remembered. */
  flush(): void {
    if (this.#uses.size === 0) return;
    this.#keys.used(this.#uses);
    this.#uses.clear();
  }

  /** Writes what it can: uses of the last seconds are nothing that a server waits for when it ends. */
  close(): void {
    clearInterval(this.#timer);
    try {
      this.flush();
    } catch (error) {
      this.#failed(error);
    }
  }
}
