import { createHash } from 'node:crypto';
import { accepts } from 'hono/accepts';
import { LRUCache } from 'lru-cache';
import type { PaperContext } from '../env.ts';
import type { Headers } from '../responses/headers.ts';
import { nextLink } from '../responses/paging.ts';
import { CachedReply, sendReply } from '../responses/reply.ts';
import {
  gzipped,
  type Representation,
  ResponseCache,
  representationOf,
  type Written,
} from '../responses/response-cache.ts';
import { JSON_TYPE, sendPrivate, sendShared } from '../responses/send.ts';

/** The size of the cache, in bytes. */
const CACHE_MAX = 32 * 1024 * 1024;

/** The size of the separate cache of rows, in bytes. A row takes 1 to 2 kB. */
const ROWS_MAX = 16 * 1024 * 1024;
/** The overhead of a row besides its text and its key, in bytes. */
const ROW = 256;

/** The smallest response that is worth compressing, in bytes. */
const GZIP_FROM = 1024;

/** A key shows more at the same address. */
const VARY = 'Accept-Encoding, Authorization, X-NRF-Key';

export type PaperResponses = ReturnType<typeof paperResponses>;

/**
 * Makes the responses of a paper's routes. A response that depends only on the edition is made once per edition,
 * compressed once for clients that accept gzip, and, without a key, has the edition's number as its ETag. `program`
 * identifies the running code: another version may render the same edition differently.
 */
export function paperResponses(program: string) {
  const cache = new ResponseCache(CACHE_MAX);
  /** By the pieces' ids. A row is replaced when its paper's edition has changed. */
  const kept = new LRUCache<string, { state: string; json: string }>({
    maxSize: ROWS_MAX,
    sizeCalculation: ({ json }, id) => 2 * json.length + id.length + ROW,
  });

  /** The ETag of responses that are the same for everyone, and the part of their cache key besides their name. */
  const stateOf = (c: PaperContext): { etag: string; state: string } => {
    const { slug, paper, root, served } = c.get('site');
    // The edition's number, and a digest of everything else that determines the bytes. The slug is in it because an
    // address may have belonged to several papers.
    const digest = createHash('sha256').update(`${program} ${slug} ${root} ${served}`).digest('hex').slice(0, 8);
    const etag = `"${paper.edition}-${digest}"`;
    return { etag, state: `${etag} ${slug}` };
  };

  const sendOne = (c: PaperContext, plain: Representation, headers: Headers, zip: () => Representation): Response => {
    const chosen = plain.bytes.length >= GZIP_FROM && takesGzip(c) ? zip() : plain;
    if (c.get('key') !== null) return sendPrivate(c, chosen, headers);
    return sendShared(c, chosen, { ...headers, Vary: VARY }, [chosen, plain]);
  };

  const sendCached = (c: PaperContext, name: string, headers: Headers, make: () => Written): Response => {
    const { etag, state } = stateOf(c);
    const plain = cache.get(name, state, () => representationOf(make(), etag));
    return sendOne(c, plain, headers, () => cache.gzipped(name, state, plain));
  };

  return {
    /** Sends what a handler returned. */
    send(c: PaperContext, value: unknown): Response {
      if (!(value instanceof CachedReply)) return sendReply(c, value, addressOf(c));
      const { name, make, init } = value;
      const { headers = {}, page, stringify = JSON.stringify } = init;
      const whole = page === undefined ? name : `${name} ${JSON.stringify(page)}`;
      return sendCached(c, whole, { ...JSON_TYPE, ...headers }, () => {
        const body = make();
        const link = page === undefined ? null : nextLink(addressOf(c), page, body.next_cursor);
        return { text: stringify(body), link };
      });
    },
    /** Sends text of another media type, cached like JSON. */
    text: (c: PaperContext, name: string, make: () => string, headers: Headers): Response =>
      sendCached(c, name, headers, make),
    /** Sends JSON without caching it: callers choose its name, so that it would only displace popular responses. */
    once(c: PaperContext, written: Written): Response {
      const plain = representationOf(written, stateOf(c).etag);
      return sendOne(c, plain, JSON_TYPE, () => gzipped(plain));
    },
    /**
     * The JSON of pieces' rows. Searches rarely repeat, but the pieces that they find do: to read and write 30 rows for
     * each would block all other requests. Leaves out a row for which `make` returns null.
     */
    rows(c: PaperContext, ids: readonly string[], make: (id: string) => object | null): string[] {
      const { state } = stateOf(c);
      return ids.flatMap((id) => {
        const held = kept.get(id);
        if (held?.state === state) return held.json;
        const row = make(id);
        if (row === null) return [];
        const json = JSON.stringify(row);
        kept.set(id, { state, json });
        return json;
      });
    },
  };
}

function takesGzip(c: PaperContext): boolean {
  return accepts(c, { header: 'Accept-Encoding', supports: ['gzip'], default: 'identity' }) === 'gzip';
}

/** The URL of the request on the requested host. */
export function addressOf(c: PaperContext): string {
  const { slug, served } = c.get('site');
  return `${served}${c.req.path.slice(slug.length + 1)}`;
}
