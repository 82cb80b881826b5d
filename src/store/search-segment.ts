import { bytes, integer, text } from './columns.ts';
import type { Db } from './open.ts';
import type { SearchSegment } from './segment-maker.ts';
import { sql } from './sql.ts';
import { varints } from './varint.ts';

/**
 * Adds segments that another thread made to the search index, whose tables are FTS5's own. The formats are those of the
 * head of SQLite's fts5_index.c, where 3.44 added origins.
 */

/** The rows of `search_data` that are no pages. */
const AVERAGES = 1;
export const STRUCTURE = 10;
/** A page's row id is its segment's number in the bits from here on, and its own below. */
const PAGE_BITS = 37;
/** The table that segments are made for, and the version of its format. */
const DEFINITION =
  /\(\s*words, content = '', contentless_delete = 1, tokenize = 'ascii', prefix = '1 2 3 4 5 6 7 8'\s*\)$/;
const VERSION = 4;
/** Follows the cookie in structures with origins. */
const WITH_ORIGINS = Buffer.from([0xff, 0, 0, 1]);
/** The most segments that get one level: of sixteen, FTS5 would merge all in the transaction of the next filing. */
const LEVEL_MAX = 8;
/** As in FTS5. */
const [LEVELS_MAX, SEGMENTS_MAX] = [64, 2_000];

/** Why a segment cannot be added to this index. */
export class SegmentFault extends Error {}

interface Level {
  /** How many of its segments are being merged, into the last one of the next level. */
  merging: number;
  segments: {
    id: number;
    first: number;
    last: number;
    first_origin: number;
    last_origin: number;
    tombstone_pages: number;
    tombstones: number;
    entries: number;
  }[];
}

interface Structure {
  cookie: number;
  written: number;
  /** The newest first. */
  levels: Level[];
}

/**
 * Adds segments to the index, in the caller's transaction. FTS5 knows the index of its own connection by heart, so `db`
 * must be a connection that never searches or indexes: the others then see that the database changed.
 */
export function segmentWriter(db: Db): { add(segment: SearchSegment): void } {
  const { run, one } = sql(db);
  const definition = one("SELECT sql FROM sqlite_master WHERE name = 'search'", text);
  const version = one("SELECT v FROM search_config WHERE k = 'version'", integer);
  const record = one('SELECT block FROM search_data WHERE id = ?', bytes);
  const setRecord = run('INSERT OR REPLACE INTO search_data (id, block) VALUES (?, ?)');
  const addPages = run(
    `INSERT INTO search_data (id, block)
     SELECT ?1 + key + 1, substr(?2, value ->> 0, value ->> 1) FROM json_each(?3)`,
  );
  const addTerms = run(
    `INSERT INTO search_idx (segid, term, pgno)
     SELECT ?1, substr(?2, value ->> 0, value ->> 1), value ->> 2 FROM json_each(?3)`,
  );
  const addSizes = run(
    'INSERT INTO search_docsize (id, sz, origin) SELECT value ->> 0, unhex(value ->> 1), ?1 FROM json_each(?2)',
  );
  return {
    add({ sizes, words, pages, terms, blob }) {
      if (!DEFINITION.test(definition() ?? '') || version() !== VERSION) {
        throw new SegmentFault('the search index has changed');
      }
      if (pages.length === 0) throw new SegmentFault('a segment has no words');
      const structure = structureOf(record(STRUCTURE));
      const all = structure.levels.flatMap(({ segments }) => segments);
      const id = freeId(all.map((other) => other.id));
      const origin = Math.max(0, ...all.map(({ last_origin }) => last_origin)) + 1;
      addPages(id * 2 ** PAGE_BITS, blob, JSON.stringify(pages));
      addTerms(id, blob, JSON.stringify(terms));
      addSizes(origin, JSON.stringify(sizes));
      levelFor(structure.levels).segments.push({
        id,
        first: 1,
        last: pages.length,
        first_origin: origin,
        last_origin: origin,
        tombstone_pages: 0,
        tombstones: 0,
        entries: sizes.length,
      });
      setRecord(STRUCTURE, bytesOf(structure));
      const [rows = 0, total = 0] = new Varints(record(AVERAGES) ?? new Uint8Array()).list();
      setRecord(AVERAGES, varints([rows + sizes.length, total + words]));
    },
  };
}

function freeId(taken: number[]): number {
  const ids = new Set(taken);
  for (let id = 1; id <= SEGMENTS_MAX; id++) if (!ids.has(id)) return id;
  throw new SegmentFault('the search index has no room for another segment');
}

/** The level that a segment joins, made if need be. The last segment of a level may be one that a merge still writes. */
function levelFor(levels: Level[]): Level {
  const free = levels.find(
    ({ segments }, at) => segments.length < LEVEL_MAX && (at === 0 || levels[at - 1]?.merging === 0),
  );
  if (free !== undefined) return free;
  if (levels.length >= LEVELS_MAX || (levels.at(-1)?.merging ?? 0) > 0) {
    throw new SegmentFault('the search index has no room for another level');
  }
  const level: Level = { merging: 0, segments: [] };
  levels.push(level);
  return level;
}

/** How many pages each segment has, the most first, by the row `STRUCTURE`; null if this program does not know its form. */
export function segmentSizes(block: Uint8Array | null): number[] | null {
  try {
    const segments = structureOf(block).levels.flatMap((level) => level.segments);
    return segments.map(({ first, last }) => last - first + 1).sort((a, b) => b - a);
  } catch (error) {
    if (error instanceof SegmentFault) return null;
    throw error;
  }
}

function structureOf(block: Uint8Array | null): Structure {
  if (block === null || block.length < 8 || !WITH_ORIGINS.equals(block.subarray(4, 8))) {
    throw new SegmentFault('the search index has another structure than was known');
  }
  const read = new Varints(block, 8);
  const count = read.next();
  read.next();
  const written = read.next();
  const levels = Array.from({ length: count }, () => {
    const merging = read.next();
    const segments = Array.from({ length: read.next() }, () => ({
      id: read.next(),
      first: read.next(),
      last: read.next(),
      first_origin: read.next(),
      last_origin: read.next(),
      tombstone_pages: read.next(),
      tombstones: read.next(),
      entries: read.next(),
    }));
    return { merging, segments };
  });
  return { cookie: Buffer.from(block).readUInt32BE(0), written, levels };
}

function bytesOf({ cookie, written, levels }: Structure): Uint8Array {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(cookie);
  const segments = levels.flatMap((level) => level.segments);
  const numbers = [
    levels.length,
    segments.length,
    written,
    ...levels.flatMap(({ merging, segments }) => [merging, segments.length, ...segments.flatMap(Object.values)]),
  ];
  return Buffer.concat([head, WITH_ORIGINS, varints(numbers)]);
}

/** SQLite's numbers: seven bits a byte, the highest first. */
class Varints {
  readonly #block: Uint8Array;
  #at: number;

  constructor(block: Uint8Array, at = 0) {
    this.#block = block;
    this.#at = at;
  }

  next(): number {
    let value = 0;
    for (;;) {
      const byte = this.#block[this.#at++];
      if (byte === undefined || value >= 2 ** 45) throw new SegmentFault('invalid varint in the search index');
      value = value * 128 + (byte & 127);
      if (byte < 128) return value;
    }
  }

  list(): number[] {
    const numbers: number[] = [];
    while (this.#at < this.#block.length) numbers.push(this.next());
    return numbers;
  }
}
