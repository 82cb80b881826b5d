import { createHash } from 'node:crypto';
import { accepts } from 'hono/accepts';
import { LRUCache } from 'lru-cache';
import type { PaperContext } from '../env.ts';
import type { Headers } from '../responses/headers.ts';
import { nextLink } from '../responses/paging.ts';
import { CachedReply, sendReply } from '../responses/reply.ts';
import type { Representation } from '../responses/response-cache.ts';
import { ResponseCache, representationOf } from '../responses/response-cache.ts';
import { JSON_TYPE, sendPrivate, sendShared } from '../responses/send.ts';

/** How much the cache holds, in bytes. */
const CACHE_MAX = 32 * 1024 * 1024;

/** How many rows of lists are held beside it; each is about 1 kB. */
const ROWS_MAX = 20_000;

/** From what length on compression pays, in bytes. */
const GZIP_FROM = 1024;

/** A key opens more at the same address. */
const VARY = 'Accept-Encoding, Authorization, X-NRF-Key';

/**
 * Makes the responses of the papers' routes. What changes with the edition
 * alone is made once for each edition, compressed once for those who take gzip,
 * and without a key has the edition's number for its ETag.
 */
export class PaperResponses {
  readonly #cache = new ResponseCache(CACHE_MAX);
  readonly #rows = new LRUCache<string, object>({ max: ROWS_MAX });
  readonly #digests = new Map<string, string>();
  readonly #program: string;

  /** `program` names the code that answers: another one may say the same edition in other words. */
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

  /** Sends a text of another type, kept like JSON. */
  text(c: PaperContext, name: string, make: () => string, headers: Headers): Response {
    return this.#send(c, name, headers, make);
  }

  /** A piece's row in a list that is made for each caller; `make` runs when the cache does not hold it. */
  row<Row extends object>(c: PaperContext, id: string, make: () => Row | null): Row | null {
    const key = `${this.#etag(c)} ${c.get('site').slug} ${id}`;
    // One id has rows of one type: search alone keeps any.
    const held = this.#rows.get(key) as Row | undefined;
    if (held !== undefined) return held;
    const row = make();
    if (row !== null) this.#rows.set(key, row);
    return row;
  }

  #send(c: PaperContext, name: string, headers: Headers, make: () => Parameters<typeof representationOf>[0]): Response {
    const etag = this.#etag(c);
    const state = `${etag} ${c.get('site').slug}`;
    const plain = this.#cache.get(name, state, () => representationOf(make(), etag));
    const isGzipped = plain.bytes.length >= GZIP_FROM && takesGzip(c);
    const chosen: Representation = isGzipped ? this.#cache.gzipped(name, state, plain) : plain;
    if (c.get('key') !== null) return sendPrivate(c, chosen, headers);
    return sendShared(c, chosen, { ...headers, Vary: VARY }, [chosen, plain]);
  }

  /** The edition's number, and a digest of what else decides the bytes. */
  #etag(c: PaperContext): string {
    const { paper, root, served } = c.get('site');
    const place = `${root} ${served}`;
    let digest = this.#digests.get(place);
    if (digest === undefined) {
      digest = createHash('sha256').update(`${this.#program} ${place}`).digest('hex').slice(0, 8);
      this.#digests.set(place, digest);
    }
    return `"${paper.edition}-${digest}"`;
  }
}

function takesGzip(c: PaperContext): boolean {
  return accepts(c, { header: 'Accept-Encoding', supports: ['gzip'], default: 'identity' }) === 'gzip';
}

/** The address of the request on the host that was asked. */
function addressOf(c: PaperContext): string {
  const { slug, served } = c.get('site');
  return `${served}${c.req.path.slice(slug.length + 1)}`;
}
