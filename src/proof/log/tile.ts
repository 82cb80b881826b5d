import { HASH_LENGTH } from './fields.ts';
import { LogFault, shown } from './log-fault.ts';

/** Tiles and entry bundles of C2SP tlog-tiles (protocol 7.5): which ones a tree has, and their paths. */

/** Number of hashes or entries in a full tile or bundle. */
export const TILE_WIDTH = 256;
/** The highest level in tlog-tiles. */
const LEVEL_MAX = 63;

/** A tile of hashes at a level, or a bundle of entries. */
export interface Tile {
  level: number | 'entries';
  /** Index within its level, from 0. */
  index: number;
  /** Number of hashes or entries, from 1 to 256; a full one has 256. */
  width: number;
}

/** A tile of hashes. */
export interface HashTile extends Tile {
  level: number;
}

/** Reads a tile's hashes, at least as many as its width. Throws when it does not have them. */
export type TileReader = (tile: HashTile) => Uint8Array;

/** Path of a tile below a log's address: `tile/0/x001/x234/067.p/112`. */
export function tilePath({ level, index, width }: Tile): string {
  const groups: string[] = [];
  for (let rest = index; ; rest = Math.floor(rest / 1_000)) {
    groups.unshift(`${groups.length === 0 ? '' : 'x'}${String(rest % 1_000).padStart(3, '0')}`);
    if (rest < 1_000) break;
  }
  return `tile/${level}/${groups.join('/')}${width === TILE_WIDTH ? '' : `.p/${width}`}`;
}

const TILE_PATH = /^tile\/(entries|[0-9]{1,2})\/((?:x[0-9]{3}\/){0,5}[0-9]{3})(?:\.p\/([0-9]{1,3}))?$/;

/** Parses a path in its canonical form. Throws a LogFault. */
export function parseTilePath(path: string): Tile {
  const [, level, groups, width] = TILE_PATH.exec(path) ?? [];
  if (level !== undefined && groups !== undefined) {
    const tile: Tile = {
      level: level === 'entries' ? level : Number(level),
      index: Number(groups.replaceAll(/[x/]/g, '')),
      width: width === undefined ? TILE_WIDTH : Number(width),
    };
    const isLevel = tile.level === 'entries' || tile.level <= LEVEL_MAX;
    const isWidth = tile.width >= 1 && tile.width <= TILE_WIDTH;
    // Leading zeros, an extra group, or a width of 256 would be a second path of the same tile.
    if (isLevel && isWidth && Number.isSafeInteger(tile.index) && tilePath(tile) === path) return tile;
  }
  throw new LogFault(`${shown(path)} is not the path of a tile or an entry bundle`);
}

/** Number of hashes at a level in a tree of this size. */
export function hashesAt(level: number, size: number): number {
  return Math.floor(size / TILE_WIDTH ** level);
}

/** The tile at a level and index of a tree of this size, full or partial. Throws a RangeError without one. */
export function tileOf(level: number, index: number, size: number): HashTile {
  const width = Math.min(TILE_WIDTH, hashesAt(level, size) - index * TILE_WIDTH);
  if (width < 1 || index < 0) throw new RangeError(`a tree of ${size} leaves has no tile ${index} at level ${level}`);
  return { level, index, width };
}

/**
 * The tiles and bundles of a tree that a smaller one does not have, or has with a smaller width; all of them when the
 * smaller tree is empty. A log writes these, and a reader who knows the smaller tree fetches them.
 */
export function* tilesBetween(old: number, size: number): Generator<Tile> {
  for (const { index, width } of newAt(0, old, size)) yield { level: 'entries', index, width };
  for (let level = 0; hashesAt(level, size) > 0; level++) yield* newAt(level, old, size);
}

function* newAt(level: number, old: number, size: number): Generator<HashTile> {
  const [before, after] = [hashesAt(level, old), hashesAt(level, size)];
  for (let index = Math.floor(before / TILE_WIDTH); index * TILE_WIDTH < after; index++) {
    if (before < after) yield tileOf(level, index, size);
  }
}

/** Splits a tile as served into hashes. Throws a LogFault unless it has exactly as many as its width. */
export function readTile(tile: HashTile, bytes: Uint8Array): Uint8Array[] {
  if (bytes.length !== tile.width * HASH_LENGTH) {
    const message = `${tilePath(tile)} has ${bytes.length} bytes; ${tile.width} hashes have ${tile.width * HASH_LENGTH}`;
    throw new LogFault(message);
  }
  return Array.from({ length: tile.width }, (_, at) => hashAt(bytes, at));
}

/** The hash at a position in the bytes of a tile. */
export function hashAt(bytes: Uint8Array, at: number): Uint8Array {
  return bytes.subarray(at * HASH_LENGTH, (at + 1) * HASH_LENGTH);
}

/** Entry bundles of C2SP tlog-tiles: each entry is preceded by its length as a big-endian uint16. */

const LENGTH_BYTES = 2;
/** The maximum of a uint16. */
export const ENTRY_MAX = 65_535;

/** Encodes a bundle. Throws a RangeError when an entry is longer than 65,535 bytes. */
export function entryBundle(entries: Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(entries.reduce((length, entry) => length + LENGTH_BYTES + entry.length, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const entry of entries) {
    if (entry.length > ENTRY_MAX) throw new RangeError(`an entry has ${entry.length} bytes; ${ENTRY_MAX} are the most`);
    view.setUint16(at, entry.length);
    bytes.set(entry, at + LENGTH_BYTES);
    at += LENGTH_BYTES + entry.length;
  }
  return bytes;
}

/** Parses a bundle as served. Throws a LogFault unless it has exactly as many entries as its width. */
export function readEntryBundle(tile: Tile, bytes: Uint8Array): Uint8Array[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const entries: Uint8Array[] = [];
  let at = 0;
  while (at < bytes.length) {
    const start = at + LENGTH_BYTES;
    const end = start > bytes.length ? Number.POSITIVE_INFINITY : start + view.getUint16(at);
    if (end > bytes.length) throw new LogFault(`${tilePath(tile)} ends within entry ${entries.length}`);
    if (entries.length === tile.width) throw new LogFault(`${tilePath(tile)} has more than ${tile.width} entries`);
    entries.push(bytes.subarray(start, end));
    at = end;
  }
  if (entries.length < tile.width) {
    throw new LogFault(`${tilePath(tile)} has ${entries.length} entries instead of ${tile.width}`);
  }
  return entries;
}
