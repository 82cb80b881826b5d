import { createHash } from 'node:crypto';
import { accepts } from 'hono/accepts';
import { LRUCache } from 'lru-cache';
import type { PaperContext } from '../env.ts';
import type { Headers } from '../responses/headers.ts';
import { nextLink } from '../responses/paging.ts';
import { CachedReply, sendReply } from '../responses/reply.ts';
import type { Representation } from '../responses/response-cache.ts';
import { gzipped, ResponseCache, representationOf } from '../responses/response-cache.ts';
import { JSON_TYPE, sendPrivate, sendShared } from '../responses/send.ts';

/** The size of the cache, in bytes. */
const CACHE_MAX = 32 * 1024 * 1024;

/** The size of the list rows that are cached in addition, in bytes. A row takes about 1 kB. */
const ROWS_MAX = 16 * 1024 * 1024;
/** What a row takes besides its bytes and its key, in bytes. */
const ROW = 256;

/** How many lists are remembered that were made once. A name takes at most some 500 bytes. */
const LISTS_MAX = 4_096;

/** The smallest response that is worth compressing, in bytes. */
const GZIP_FROM = 1024;

/** A key shows more at the same address. */
const VARY = 'Accept-Encoding, Authorization, X-NRF-Key';

const COMMA = 0x2c;

/** What the answers to a request depend on. */
interface State {
  etag: string;
  /** What a response depends on besides its name. */
  whole: string;
  /** What a row depends on besides its id: rows have no address on the requested host. */
  ofRows: string;
}

interface HeldRow {
  state: string;
  bytes: Uint8Array;
}

/** JSON with a list of rows, each of them as bytes. */
interface RowList {
  before: string;
  rows: readonly Uint8Array[];
  after: string;
}

/**
 * Makes the responses of a paper's routes. A response that depends only on the edition is made once per edition,
 * compressed once for clients that accept gzip, and, without a key, has the edition's number as its ETag.
 */
export class PaperResponses {
  readonly #cache = new ResponseCache(CACHE_MAX);
  /** By the pieces' ids: a key that includes the state would be built and hashed for each lookup. */
  readonly #rows = new LRUCache<string, HeldRow>({
    maxSize: ROWS_MAX,
    sizeCalculation: ({ bytes }, key) => bytes.length + key.length + ROW,
  });
  /** Lists that were made once. */
  readonly #made = new LRUCache<string, true>({ max: LISTS_MAX });
  readonly #program: string;

  /** `program` identifies the running code: another version may render the same edition differently. */
  constructor(program: string) {
    this.#program = program;
  }

  /** Sends what a handler returned. */
  send(c: PaperContext, value: unknown): Response {
    if (!(value instanceof CachedReply)) return sendReply(c, value, addressOf(c));
    const { name, make, init } = value;
    const { headers = {}, page, stringify = JSON.stringify } = init;
    const whole = page === undefined ? name : `${name} ${JSON.stringify(page)}`;
    return this.#send(c, whole, { ...JSON_TYPE, ...headers }, () => {
      const body = make();
      return {
        text: stringify(body),
        link: page === undefined ? null : nextLink(addressOf(c), page, body.next_cursor),
      };
    });
  }

  /** Sends text of another media type, cached like JSON. */
  text(c: PaperContext, name: string, make: () => string, headers: Headers): Response {
    return this.#send(c, name, headers, make);
  }

  /** The cached response of this name in this edition; null when there is none. `headers` are as for `text`. */
  cached(c: PaperContext, name: string, headers: Headers): Response | null {
    if (!this.#cache.has(name, this.#stateOf(c).whole)) return null;
    return this.text(c, name, () => '', headers);
  }

  /**
   * Sends JSON with a list of rows from `rows`. It is cached when it is made for the second time: what is asked once
   * would only displace what is asked often.
   */
  list(c: PaperContext, name: string, make: () => RowList, headers: Headers): Response {
    const { etag, whole } = this.#stateOf(c);
    const key = `${whole} ${name}`;
    if (this.#made.has(key)) return this.#send(c, name, headers, () => ({ bytes: bytesOf(make()) }));
    this.#made.set(key, true);
    return this.#sendOne(c, representationOf({ bytes: bytesOf(make()) }, etag), headers, gzipped);
  }

  /**
   * The JSON of pieces' rows, which many responses share in one edition. Calls `make` for a row that is not cached, and
   * leaves out those for which it returns null.
   */
  rows(c: PaperContext, ids: readonly string[], make: (id: string) => object | null): Uint8Array[] {
    const state = this.#stateOf(c).ofRows;
    return ids.flatMap((id) => {
      const held = this.#rows.get(id);
      if (held?.state === state) return [held.bytes];
      const bytes = rowOf(make(id));
      if (bytes === null) return [];
      this.#rows.set(id, { state, bytes });
      return [bytes];
    });
  }

  #send(c: PaperContext, name: string, headers: Headers, make: () => Parameters<typeof representationOf>[0]): Response {
    const { etag, whole } = this.#stateOf(c);
    const plain = this.#cache.get(name, whole, () => representationOf(make(), etag));
    return this.#sendOne(c, plain, headers, () => this.#cache.gzipped(name, whole, plain));
  }

  #sendOne(
    c: PaperContext,
    plain: Representation,
    headers: Headers,
    zip: (plain: Representation) => Representation,
  ): Response {
    const isGzipped = plain.bytes.length >= GZIP_FROM && takesGzip(c);
    const chosen = isGzipped ? zip(plain) : plain;
    if (c.get('key') !== null) return sendPrivate(c, chosen, headers);
    return sendShared(c, chosen, { ...headers, Vary: VARY }, [chosen, plain]);
  }

  #stateOf(c: PaperContext): State {
    const { slug, paper, root, served } = c.get('site');
    // The edition's number, and a digest of all else that determines the bytes. One address may have been that of several
    // papers.
    const digest = createHash('sha256').update(`${this.#program} ${slug} ${root} ${served}`).digest('hex').slice(0, 8);
    const etag = `"${paper.edition}-${digest}"`;
    return { etag, whole: `${etag} ${slug}`, ofRows: `${paper.edition} ${root}` };
  }
}

function takesGzip(c: PaperContext): boolean {
  return accepts(c, { header: 'Accept-Encoding', supports: ['gzip'], default: 'identity' }) === 'gzip';
}

/** A row's JSON in bytes of its own, which keep no larger buffer alive. */
function rowOf(row: object | null): Uint8Array | null {
  return row === null ? null : Uint8Array.from(Buffer.from(JSON.stringify(row)));
}

/** The rows parted by commas, between two texts. */
function bytesOf({ before, rows, after }: RowList): Buffer<ArrayBuffer> {
  let length = Buffer.byteLength(before) + Math.max(0, rows.length - 1) + Buffer.byteLength(after);
  for (const row of rows) length += row.length;
  const bytes = Buffer.allocUnsafeSlow(length);
  let at = bytes.write(before);
  for (const [n, row] of rows.entries()) {
    if (n > 0) bytes[at++] = COMMA;
    bytes.set(row, at);
    at += row.length;
  }
  bytes.write(after, at);
  return bytes;
}

/** The URL of the request on the requested host. */
function addressOf(c: PaperContext): string {
  const { slug, served } = c.get('site');
  return `${served}${c.req.path.slice(slug.length + 1)}`;
}
