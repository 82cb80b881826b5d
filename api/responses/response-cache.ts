import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** An answer as it is sent. */
export interface Representation {
  bytes: Buffer<ArrayBuffer>;
  /** Its strong ETag, in quotation marks. */
  etag: string;
  /** Its `Link` header (RFC 8288), if it has one. */
  link: string | null;
}

/** A text, with the header that goes with it or without. */
type Written = string | { text: string; link: string | null };

/** How much one door keeps, in bytes. */
const MAX_BYTES = 16 * 1024 * 1024;

/** An answer with its mark, which is a digest of its bytes. */
export function representationOf(written: Written): Representation {
  const { text, link } = typeof written === 'string' ? { text: written, link: null } : written;
  const bytes = Buffer.from(text);
  return { bytes, link, etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"` };
}

/**
 * Answers that are the same for everybody as long as what they show is the same.
 * Who asks names the state that the answer shows; another state is made anew,
 * once, however many ask for it at the same time.
 */
export class ResponseCache {
  readonly #made = new LRUCache<string, Representation>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ bytes }, name) => bytes.length + name.length,
  });
  readonly #making = new Map<string, Promise<Representation>>();

  /** The answer of this name in this state. What `make` throws is thrown, and made again by the next who asks. */
  async of(name: string, state: string, make: () => Written | Promise<Written>): Promise<Representation> {
    const place = `${state} ${name}`;
    return this.#made.get(place) ?? this.#making.get(place) ?? this.#make(place, make);
  }

  #make(place: string, make: () => Written | Promise<Written>): Promise<Representation> {
    // Begun a moment later, so that what fails at once is forgotten after it was entered, and not before.
    const making = Promise.resolve()
      .then(make)
      .then((written) => {
        const made = representationOf(written);
        this.#made.set(place, made);
        return made;
      })
      .finally(() => this.#making.delete(place));
    this.#making.set(place, making);
    return making;
  }
}
