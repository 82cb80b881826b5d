import type { TrackedName } from './tracked-values.ts';
import { valueMatch } from './value-words.ts';

/** How many values, or sightings of one value, are read at a time. */
const CHUNK = 64;

/** An indexed value: shared by all hosts that have it or, if long, specific to one host and signal. */
export interface IndexedValue {
  id: number;
  host: number | null;
  signal: string | null;
  value: string;
}

/** A sighting of a value at one host. Times in ms. */
export interface ValueSighting {
  /** The hostname's id. */
  host: number;
  hostname: string;
  signal: TrackedName;
  value: string;
  first_seen: number;
  last_seen: number;
  /** The number of probes that showed the value. */
  count: number;
}

/** The table reads that a search of values needs. */
export interface ValueTables {
  /** Values that match an FTS5 query, by id, starting with id `from`. */
  valuesThatMatch(match: string, from: number, limit: number): IndexedValue[];
  /** Shown hosts with exactly this value, after the given one. */
  sightingsOf(value: string, after: { host: number; signal: string }, limit: number): ValueSighting[];
  /** The sighting of a value at one host; null when the host is not shown. */
  sightingAt(host: number, signal: string, value: string): ValueSighting | null;
}

/** The last row of a page of sightings. */
export interface ValueCursor {
  /** 0: exact matches; 1: values with all the words; 2: values where the last word of the query is a prefix. */
  tier: number;
  id: number;
  host: number;
  signal: string;
}

export const FIRST_VALUE: ValueCursor = { tier: 0, id: 0, host: 0, signal: '' };

/**
 * Sightings of values that equal the query, then of values that contain its words, then of values with words that begin
 * like its last word; one at a time, after a cursor. Values first seen moments ago are not indexed yet, so only exact
 * matches find them.
 */
export function* valueSightings(
  tables: ValueTables,
  q: string,
  after: ValueCursor = FIRST_VALUE,
): Iterable<{ sighting: ValueSighting; cursor: ValueCursor }> {
  // Hosts are stored in lower case, texts as in the zone.
  const exact = [...new Set([q, q.toLowerCase()])];
  const match = valueMatch(q);
  for (let tier = after.tier; tier <= 2; tier++) {
    const from = tier === after.tier ? after.id : 0;
    for (const value of tier === 0 ? asAsked(exact, from) : indexed(tables, matchOf(match, tier), from)) {
      if (tier > 0 && exact.includes(value.value)) continue;
      const isBegun = tier === after.tier && value.id === after.id;
      for (const sighting of seen(tables, value, isBegun ? after : FIRST_VALUE)) {
        yield { sighting, cursor: { tier, id: value.id, host: sighting.host, signal: sighting.signal } };
      }
    }
  }
}

function asAsked(exact: string[], from: number): IndexedValue[] {
  return exact.map((value, id) => ({ id, host: null, signal: null, value })).slice(from);
}

function matchOf(match: ReturnType<typeof valueMatch>, tier: number): string | null {
  if (match === null || tier === 1) return match?.whole ?? null;
  return match.begun === null ? null : `(${match.begun}) NOT (${match.whole})`;
}

function* indexed(tables: ValueTables, match: string | null, from: number): Iterable<IndexedValue> {
  for (let next = from; match !== null; ) {
    const values = tables.valuesThatMatch(match, next, CHUNK);
    yield* values;
    if (values.length < CHUNK) return;
    next = (values.at(-1)?.id ?? 0) + 1;
  }
}

function* seen(
  tables: ValueTables,
  { host, signal, value }: IndexedValue,
  after: ValueCursor,
): Iterable<ValueSighting> {
  if (host !== null && signal !== null) {
    const one = after.host === 0 ? tables.sightingAt(host, signal, value) : null;
    if (one !== null) yield one;
    return;
  }
  for (let last: { host: number; signal: string } = after; ; ) {
    const sightings = tables.sightingsOf(value, last, CHUNK);
    yield* sightings;
    if (sightings.length < CHUNK) return;
    last = sightings.at(-1) ?? last;
  }
}
