import { joined } from '../bytes.ts';
import { merkleRoot } from '../merkle.ts';
import type { HashTile, TileReader } from './tile.ts';
import { hashAt, hashesAt, TILE_WIDTH, tileOf, tilePath } from './tile.ts';

/** A tile and its hashes. */
export interface WrittenTile {
  tile: HashTile;
  bytes: Uint8Array;
}

/** The result of appending leaves. Nothing is written yet, because the head is signed first. */
export interface Appended {
  size: number;
  /** The tiles that are new or wider than before, lowest level first. */
  tiles: WrittenTile[];
  /** Reads the tiles of the new tree. */
  read: TileReader;
}

/**
 * Appends leaf hashes to a tree of `old` leaves. Reads one tile per level, and hashes the nodes that the batch
 * completes. Running it again after a crash gives the same tiles.
 */
export function appendLeaves(old: number, leafHashes: Uint8Array[], read: TileReader): Appended {
  const size = old + leafHashes.length;
  const tiles: WrittenTile[] = [];
  let added = leafHashes;
  for (let level = 0; added.length > 0; level++) {
    const before = hashesAt(level, old);
    const first = Math.floor(before / TILE_WIDTH);
    const kept = before % TILE_WIDTH;
    const partial = kept === 0 ? new Uint8Array() : read(tileOf(level, first, old));
    const hashes = [...Array.from({ length: kept }, (_, at) => hashAt(partial, at)), ...added];
    const completed: Uint8Array[] = [];
    for (let at = 0; at < hashes.length; at += TILE_WIDTH) {
      const within = hashes.slice(at, at + TILE_WIDTH);
      tiles.push({ tile: { level, index: first + at / TILE_WIDTH, width: within.length }, bytes: joined(...within) });
      if (within.length === TILE_WIDTH) completed.push(merkleRoot(within));
    }
    added = completed;
  }
  const written = new Map(tiles.map(({ tile, bytes }) => [tilePath(tile), bytes]));
  return { size, tiles, read: (tile) => written.get(tilePath(tile)) ?? read(tile) };
}
