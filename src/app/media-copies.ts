import { readFile } from 'node:fs/promises';
import { sha256 } from '../ledger/basis.ts';
import type { AppContext } from './context.ts';
import type { MediaStore } from './media-place.ts';

/** Sends to the place of MEDIA_URL what it lacks of the media that the ledger names. */
export class MediaCopies {
  readonly #app: Pick<AppContext, 'store' | 'media'>;
  readonly #place: MediaStore;
  /** What the place has; null until it was asked. */
  #there: Set<string> | null = null;
  readonly #waiting = new Set<string>();
  /** The last record that was looked at. */
  #seen = 0;

  constructor(app: Pick<AppContext, 'store' | 'media'>, place: MediaStore) {
    this.#app = app;
    this.#place = place;
  }

  /** How many files the place lacks, as far as is known. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Returns how many files were sent. Throws the fault of the place; what was not sent waits for the next call. */
  async send(signal?: AbortSignal): Promise<number> {
    const { store, media } = this.#app;
    for (const { n, digest } of store.mediaAfter(this.#seen)) {
      if (this.#there?.has(digest) !== true) this.#waiting.add(digest);
      this.#seen = n;
    }
    if (this.#waiting.size === 0) return 0;
    this.#there ??= await this.#place.digests();
    let sent = 0;
    for (const digest of this.#waiting) {
      if (!this.#there.has(digest)) {
        // What is missing here or damaged cannot be sent.
        const bytes = await readFile(media.pathOf(digest)).catch(() => null);
        if (bytes === null || sha256(bytes) !== digest) continue;
        await this.#place.put(digest, bytes, signal);
        this.#there.add(digest);
        sent++;
      }
      this.#waiting.delete(digest);
    }
    return sent;
  }
}
