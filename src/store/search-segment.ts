import Database from 'libsql';
import { bytes, integer, text } from './columns.ts';
import type { Db } from './open.ts';
import { IN_MEMORY } from './open.ts';
import { sql } from './sql.ts';

/**
 * Segments of the search index that another thread makes. SQLite has one writer, and FTS5 spends most of its time on
 * sorting words in memory: a thread does that in a database of its own, and the writer copies the segment's pages. The
 * formats are those of the head of SQLite's fts5_index.c, where 3.44 added origins.
 */

/** The rows of `search_data` that are no pages. */
const AVERAGES = 1;
export const STRUCTURE = 10;
/** A page's row id is its segment's number in the bits from here on, and its own below. */
const PAGE_BITS = 37;
/** Follows the cookie in structures with origins. */
const WITH_ORIGINS = Buffer.from([0xff, 0, 0, 1]);
/** The most segments that get one level: of sixteen, FTS5 would merge all in the transaction of the next filing. */
const LEVEL_MAX = 8;
/** As in FTS5. */
const [LEVELS_MAX, SEGMENTS_MAX] = [64, 2_000];

/** Why a segment cannot be added to this index. */
export class SegmentFault extends Error {}

/** What is indexed under a row id. */
export interface IndexedWords {
  place: number;
  words: string;
}

/** One segment, for any number in the index. */
export interface SearchSegment {
  /** Row ids, ascending. */
  places: number[];
  /** The words of all of them. */
  words: number;
  first_page: number;
  last_page: number;
  /** Each page's row id without the segment's number, where its bytes begin in `blob` from 1 on, and how many. */
  pages: [at: number, start: number, length: number][];
  /** The first word of pages: where its bytes are, and the row's `pgno`. */
  terms: [start: number, length: number, pgno: number][];
  /** The counts of words, one for each of `places`. */
  sizes: [start: number, length: number][];
  blob: Uint8Array;
}

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

/** Makes segments for a table that is created by `create`. */
export function segmentMaker(create: string): (docs: readonly IndexedWords[]) => SearchSegment {
  const db = new Database(IN_MEMORY);
  db.exec(create);
  const { run, one, all } = sql(db);
  const insert = run('INSERT INTO search (rowid, words) VALUES (?, ?)');
  const pages = all(`SELECT id, block FROM search_data WHERE id > ${STRUCTURE} ORDER BY id`, {
    id: integer,
    block: bytes,
  });
  const terms = all('SELECT term, pgno FROM search_idx ORDER BY term', { term: bytes, pgno: integer });
  const sizes = all('SELECT id, sz FROM search_docsize ORDER BY id', { id: integer, sz: bytes });
  const record = one('SELECT block FROM search_data WHERE id = ?', bytes);
  // All words of a segment are sorted at once.
  db.exec("INSERT INTO search (search, rank) VALUES ('hashsize', 1073741824)");
  return (docs) => {
    db.exec('BEGIN');
    for (const { place, words } of [...docs].sort((a, b) => a.place - b.place)) insert(place, words);
    db.exec('COMMIT');
    const segments = structureOf(record(STRUCTURE)).levels.flatMap(({ segments }) => segments);
    const [segment] = segments;
    if (segment === undefined || segments.length !== 1) throw new Error(`${segments.length} segments were made of one`);
    const parts: Uint8Array[] = [];
    let end = 1;
    const put = (part: Uint8Array): [start: number, length: number] => {
      parts.push(part);
      const start = end;
      end += part.length;
      return [start, part.length];
    };
    const docsizes = sizes();
    const made = {
      places: docsizes.map(({ id }) => id),
      words: new Varints(record(AVERAGES) ?? new Uint8Array()).list()[1] ?? 0,
      first_page: segment.first,
      last_page: segment.last,
      pages: pages().map(({ id, block }): SearchSegment['pages'][number] => [id % 2 ** PAGE_BITS, ...put(block)]),
      terms: terms().map(({ term, pgno }): SearchSegment['terms'][number] => [...put(term), pgno]),
      sizes: docsizes.map(({ sz }) => put(sz)),
    };
    db.exec("INSERT INTO search (search) VALUES ('delete-all')");
    return { ...made, blob: new Uint8Array(Buffer.concat(parts)) };
  };
}

/**
 * Adds segments to the index, in the caller's transaction. FTS5 knows the index of its own connection by heart, so `db`
 * must be a connection that never searches or indexes: the others then see that the database changed.
 */
export function segmentWriter(db: Db): { create: string; add(segment: SearchSegment): void } {
  const { run, one } = sql(db);
  const create = one("SELECT sql FROM sqlite_master WHERE name = 'search'", text);
  const record = one('SELECT block FROM search_data WHERE id = ?', bytes);
  const setRecord = run('INSERT OR REPLACE INTO search_data (id, block) VALUES (?, ?)');
  const addPages = run(
    `INSERT INTO search_data (id, block)
     SELECT ?1 + (value ->> 0), substr(?2, value ->> 1, value ->> 2) FROM json_each(?3)`,
  );
  const addTerms = run(
    `INSERT INTO search_idx (segid, term, pgno)
     SELECT ?1, substr(?2, value ->> 0, value ->> 1), value ->> 2 FROM json_each(?3)`,
  );
  const addSizes = run(
    `INSERT INTO search_docsize (id, sz, origin)
     SELECT value ->> 0, substr(?2, value ->> 1, value ->> 2), ?1 FROM json_each(?3)`,
  );
  return {
    create: create() ?? '',
    add({ places, words, blob, ...segment }) {
      const structure = structureOf(record(STRUCTURE));
      const all = structure.levels.flatMap(({ segments }) => segments);
      const id = freeId(all.map((other) => other.id));
      const origin = Math.max(0, ...all.map(({ last_origin }) => last_origin)) + 1;
      addPages(id * 2 ** PAGE_BITS, blob, JSON.stringify(segment.pages));
      addTerms(id, blob, JSON.stringify(segment.terms));
      addSizes(origin, blob, JSON.stringify(segment.sizes.map((size, at) => [places[at], ...size])));
      levelFor(structure.levels).segments.push({
        id,
        first: segment.first_page,
        last: segment.last_page,
        first_origin: origin,
        last_origin: origin,
        tombstone_pages: 0,
        tombstones: 0,
        entries: places.length,
      });
      setRecord(STRUCTURE, bytesOf(structure));
      const [rows = 0, total = 0] = new Varints(record(AVERAGES) ?? new Uint8Array()).list();
      setRecord(AVERAGES, Buffer.from([...varint(rows + places.length), ...varint(total + words)]));
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
  return Buffer.concat([head, WITH_ORIGINS, Buffer.from(numbers.flatMap(varint))]);
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
      if (byte === undefined || value >= 2 ** 45) throw new SegmentFault('the search index has a number that is none');
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

function varint(value: number): number[] {
  const bytes = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) bytes.unshift((rest % 128) + 128);
  return bytes;
}
