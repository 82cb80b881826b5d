import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import type { Headers } from './headers.ts';

/** A response body with its metadata. */
export interface Representation {
  bytes: Buffer<ArrayBuffer>;
  /** Its strong ETag, in quotation marks. */
  etag: string;
  /** Its own headers, such as `Link` or `Content-Encoding`. */
  headers: Headers;
}

/** A text, with or without a `Link` header (RFC 8288). */
export type Written = string | { text: string; link: string | null };

/** The default size of a cache, in bytes. */
const MAX_BYTES = 16 * 1024 * 1024;

/** The overhead of an entry besides its bytes and its name (objects, the ETag, list nodes), in bytes. */
const ENTRY = 512;

/** The representation of a text. Without an ETag it gets a digest of its bytes. */
export function representationOf(written: Written, etag?: string): Representation {
  const { text, link } = typeof written === 'string' ? { text: written, link: null } : written;
  // Cached as bytes: encoding a text again is most of the cost of sending it.
  const bytes = alone(Buffer.from(text));
  return { bytes, etag: etag ?? digestOf(bytes), headers: link === null ? {} : { Link: link } };
}

/** A copy in separate memory: Node allocates short buffers within larger ones, which it would keep alive. */
function alone(bytes: Buffer<ArrayBuffer>): Buffer<ArrayBuffer> {
  if (bytes.buffer.byteLength === bytes.length) return bytes;
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

function digestOf(bytes: Buffer): string {
  return `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
}

/** A gzipped response, which is another representation with its own ETag (RFC 9110, section 8.8.3.3). */
export function gzipped({ bytes, etag, headers }: Representation): Representation {
  return {
    // Higher levels take more than twice the time, and save 5 % of a list's bytes.
    bytes: alone(gzipSync(bytes, { level: 1 })),
    etag: `${etag.slice(0, -1)}-gzip"`,
    headers: { ...headers, 'Content-Encoding': 'gzip' },
  };
}

/** Callers choose some names, so no key is a prefix of another representation's key. */
function plainKey(name: string, state: string): string {
  return `plain ${state} ${name}`;
}

type Make = () => Written | Promise<Written>;

/** An LRU cache of responses by name and by the state that they show. */
export class ResponseCache {
  readonly #held: LRUCache<string, Representation, Make>;

  constructor(maxBytes = MAX_BYTES) {
    this.#held = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ bytes }, name) => bytes.length + name.length + ENTRY,
      fetchMethod: async (_key, _stale, { context: make }) => representationOf(await make()),
      // A response that is displaced before it is made is still sent to those who wait for it.
      ignoreFetchAbort: true,
    });
  }

  /** The response of this name and state, made on a cache miss. */
  get(name: string, state: string, make: () => Representation): Representation {
    return this.#get(plainKey(name, state), make);
  }

  #get(key: string, make: () => Representation): Representation {
    const held = this.#held.get(key);
    if (held !== undefined) return held;
    const made = make();
    this.#held.set(key, made);
    return made;
  }

  /** Like `get`, for responses that take time: concurrent callers share one computation. A rejection is not cached. */
  load(name: string, state: string, make: Make): Promise<Representation> {
    return this.#held.forceFetch(plainKey(name, state), { context: make });
  }

  /** The gzipped response of this name and state. */
  gzipped(name: string, state: string, plain: Representation): Representation {
    return this.#get(`gzip ${state} ${name}`, () => gzipped(plain));
  }
}
