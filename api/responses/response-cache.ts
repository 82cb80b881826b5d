import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import type { Headers } from './headers.ts';

/** A body as it is sent, with what is said of it. */
export interface Representation {
  bytes: Buffer<ArrayBuffer>;
  /** Its strong ETag, in quotation marks. */
  etag: string;
  /** Headers of its own, such as `Link` or `Content-Encoding`. */
  headers: Headers;
}

/** A text, with its `Link` header (RFC 8288) or without. */
type Written = string | { text: string; link: string | null };

/** How much one cache holds, in bytes. */
const MAX_BYTES = 16 * 1024 * 1024;

/** The representation of a text; without an ETag it gets a digest of its bytes. */
export function representationOf(written: Written, etag?: string): Representation {
  const { text, link } = typeof written === 'string' ? { text: written, link: null } : written;
  // Kept as bytes: encoding a text again is most of what sending it costs.
  const bytes = Buffer.from(text);
  return { bytes, etag: etag ?? digestOf(bytes), headers: link === null ? {} : { Link: link } };
}

function digestOf(bytes: Buffer): string {
  return `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
}

/**
 * Responses that stay the same as long as what they show does. A caller names
 * the response and the state that it shows; another state has another response.
 * What was used least goes first.
 */
export class ResponseCache {
  readonly #held: LRUCache<string, Representation>;
  readonly #making = new Map<string, Promise<Representation>>();

  constructor(maxBytes = MAX_BYTES) {
    this.#held = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ bytes }, name) => bytes.length + name.length,
    });
  }

  /** The response of this name in this state, made when the cache does not hold it. */
  get(name: string, state: string, make: () => Representation): Representation {
    const key = `${state} ${name}`;
    const held = this.#held.get(key);
    if (held !== undefined) return held;
    const made = make();
    this.#held.set(key, made);
    return made;
  }

  /**
   * The same for what takes time: it is made once, however many ask for it
   * meanwhile. A rejection is not kept: the next caller makes it again.
   */
  async load(name: string, state: string, make: () => Written | Promise<Written>): Promise<Representation> {
    const key = `${state} ${name}`;
    return this.#held.get(key) ?? this.#making.get(key) ?? this.#make(key, make);
  }

  /** The response compressed: another representation, with an ETag of its own (RFC 9110, section 8.8.3.3). */
  gzipped(name: string, state: string, { bytes, etag, headers }: Representation): Representation {
    return this.get(`${name} gzip`, state, () => ({
      bytes: gzipSync(bytes),
      etag: `${etag.slice(0, -1)}-gzip"`,
      headers: { ...headers, 'Content-Encoding': 'gzip' },
    }));
  }

  #make(key: string, make: () => Written | Promise<Written>): Promise<Representation> {
    // Begun a moment later: what fails at once is forgotten after it was entered, and not before.
    const making = Promise.resolve()
      .then(make)
      .then((written) => {
        const made = representationOf(written);
        this.#held.set(key, made);
        return made;
      })
      .finally(() => this.#making.delete(key));
    this.#making.set(key, making);
    return making;
  }
}
