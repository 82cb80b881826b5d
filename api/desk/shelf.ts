import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { accepts } from 'hono/accepts';
import { LRUCache } from 'lru-cache';
import { matchesEtag } from '../responses/etag.ts';
import { PRIVATE, PUBLIC, privateJson } from '../responses/send.ts';
import type { PaperContext } from './doors.ts';

/** How much the shelf holds, in bytes. */
const SHELF_MAX = 32 * 1024 * 1024;

/** How many rows of lists it holds beside them; each is about 1 kB. */
const ROWS_MAX = 20_000;

/** From what length on an answer is worth packing, in bytes. */
const PACKED_FROM = 1024;

/** A key opens more at the same address. */
const VARY = 'Accept-Encoding, Authorization, X-NRF-Key';

/**
 * Answers that change with the edition alone, whoever asks: each is made once
 * for each edition, a long one is packed once for those who take gzip, and on
 * the public lane the edition's number is its mark (`ETag`). What depends on the
 * caller, or on drafts, goes by `privateJson`.
 */
export class Shelf {
  readonly #kept = new LRUCache<string, Kept>({
    maxSize: SHELF_MAX,
    sizeCalculation: ({ bytes }, name) => bytes.length + name.length,
  });
  readonly #rows = new LRUCache<string, object>({ max: ROWS_MAX });
  readonly #marks = new Map<string, string>();
  readonly #program: string;

  /** `program` names the code that answers: another one may say the same edition in other words. */
  constructor(program: string) {
    this.#program = program;
  }

  /**
   * Sends JSON. `name` tells this answer from the others of the paper; `make` is
   * called when it is not at hand, and what it throws is thrown.
   */
  json(c: PaperContext, name: string, make: () => unknown, more: Headers = {}): Response {
    return this.#send(c, name, { ...JSON_TYPE, ...more }, () => ({ text: JSON.stringify(make()) }));
  }

  /** Sends a text of a type; `more` are headers of its own. What `c.header` was told does not reach the answer. */
  text(c: PaperContext, name: string, type: string, make: () => string, more: Headers = {}): Response {
    return this.#send(c, name, { 'Content-Type': type, ...more }, () => ({ text: make() }));
  }

  /** Sends a list that may go on; `query` is what it was asked for, as the next page is asked for too. */
  list(c: PaperContext, query: Query, make: () => { next_cursor: string | null }): Response {
    return this.#send(c, `${c.req.path} ${JSON.stringify(query)}`, JSON_TYPE, () => {
      const body = make();
      return { text: JSON.stringify(body), link: nextLink(c, query, body.next_cursor) };
    });
  }

  /** A piece's row in a list that is made anew for each who asks; `make` is called when it is not at hand. */
  row<Row extends object>(c: PaperContext, id: string, make: () => Row | null): Row | null {
    const place = `${this.#mark(c)} ${c.get('site').slug} ${id}`;
    const held = this.#rows.get(place) as Row | undefined;
    if (held !== undefined) return held;
    const row = make();
    if (row !== null) this.#rows.set(place, row);
    return row;
  }

  #send(c: PaperContext, name: string, own: Headers, make: () => { text: string; link?: string | null }): Response {
    const mark = this.#mark(c);
    const place = `${mark} ${c.get('site').slug} ${name}`;
    const plain = this.#held(place, () => {
      const { text, link } = make();
      const more: Headers = link ? { Link: link } : {};
      // Kept as bytes: encoding a text anew is most of what sending it costs.
      return { mark, bytes: Buffer.from(text), more };
    });
    const isPacked = plain.bytes.length >= PACKED_FROM && takesGzip(c);
    const kept = isPacked ? this.#held(`${place} gzip`, () => packed(plain)) : plain;
    const about = { 'X-Content-Type-Options': 'nosniff', ...own, ...kept.more };
    // Made by hand: by way of `c.body` each answer would cost a `Headers` object.
    if (c.get('key') !== null) return new Response(kept.bytes, { headers: { ...about, 'Cache-Control': PRIVATE } });
    const cached = { ETag: kept.mark, 'Cache-Control': PUBLIC, Vary: VARY };
    const given = c.req.header('if-none-match');
    // Who has the answer unpacked has it too.
    const known = [kept, plain].find((one) => matchesEtag(given, one.mark));
    if (known !== undefined) return c.body(null, 304, { ...cached, ETag: known.mark, ...plain.more });
    return new Response(kept.bytes, { headers: { ...about, ...cached } });
  }

  #held(place: string, make: () => Kept): Kept {
    let held = this.#kept.get(place);
    if (held === undefined) {
      held = make();
      this.#kept.set(place, held);
    }
    return held;
  }

  /** The edition's number, and a digest of what else decides the bytes. */
  #mark(c: PaperContext): string {
    const { paper, root, served } = c.get('site');
    const place = `${root} ${served}`;
    let digest = this.#marks.get(place);
    if (digest === undefined) {
      digest = createHash('sha256').update(`${this.#program} ${place}`).digest('hex').slice(0, 8);
      this.#marks.set(place, digest);
    }
    return `"${paper.edition}-${digest}"`;
  }
}

interface Kept {
  /** Another packing is another representation, and has another mark (RFC 9110, section 8.8.3.3). */
  mark: string;
  bytes: Buffer<ArrayBuffer>;
  more: Headers;
}

function takesGzip(c: PaperContext): boolean {
  return accepts(c, { header: 'Accept-Encoding', supports: ['gzip'], default: 'identity' }) === 'gzip';
}

function packed({ mark, bytes, more }: Kept): Kept {
  return { mark: `${mark.slice(0, -1)}-gzip"`, bytes: gzipSync(bytes), more: { ...more, 'Content-Encoding': 'gzip' } };
}

type Query = Record<string, unknown>;
type Headers = Record<string, string>;

const JSON_TYPE = { 'Content-Type': 'application/json' };

/** The way to the next page of a list (RFC 8288); null at its end. */
function nextLink(c: PaperContext, query: Query, cursor: string | null): string | null {
  if (cursor === null) return null;
  const { slug, served } = c.get('site');
  const given = Object.entries({ ...query, cursor }).filter(([, value]) => value !== undefined);
  const params = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  return `<${served}${c.req.path.slice(slug.length + 1)}?${params}>; rel="next"`;
}

/** The same for a list that may go on. */
export function privateList(c: PaperContext, query: Query, body: { next_cursor: string | null }): Response {
  const link = nextLink(c, query, body.next_cursor);
  if (link !== null) c.header('Link', link);
  return privateJson(c, body);
}
