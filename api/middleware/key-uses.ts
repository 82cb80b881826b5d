import { Flushing } from './flushing.ts';

/** A key table that records uses. */
interface NotesUses {
  used(uses: Iterable<[id: string, at: number]>): void;
}

/** Remembers when keys were used and writes that periodically, so that a read does not cost a write. */
export class KeyUses {
  readonly #keys: NotesUses;
  readonly #uses = new Map<string, number>();
  readonly #flushing: Flushing;

  /** `failed` is called with the first error since uses were written. */
  constructor(keys: NotesUses, failed: (error: unknown) => void) {
    this.#keys = keys;
    this.#flushing = new Flushing(() => this.flush(), failed);
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

  close(): void {
    this.#flushing.close();
  }
}
