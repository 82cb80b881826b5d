import { ENTRY_MAX, readEntryBundle } from '../../ledger/log/entry-bundle.ts';
import { HASH_LENGTH } from '../../ledger/log/hash-lines.ts';
import type { HashTile, Tile } from '../../ledger/log/tile.ts';
import { readTile, TILE_WIDTH, tileOf, tilePath } from '../../ledger/log/tile.ts';
import { isMissing, type LogSource } from './log-source.ts';

const BUNDLE_MAX = TILE_WIDTH * (2 + ENTRY_MAX);
/** Bundles that are fetched at the same time. */
const AHEAD = 8;

/** Entries that follow one another in a log. */
export interface EntryRun {
  /** The index of the first one. */
  start: number;
  entries: Uint8Array[];
}

/**
 * Streams the entries of a log from index `from` up to `size`, at most 256 at a time. Throws what `LogSource.read`
 * throws, and a LogFault for a malformed bundle.
 */
export async function* entriesFrom(source: LogSource, from: number, size: number): AsyncGenerator<EntryRun> {
  const under: Promise<EntryRun>[] = [];
  let next = Math.floor(from / TILE_WIDTH);
  const ask = (): void => {
    if (next * TILE_WIDTH >= size) return;
    const run = bundleAt(source, next++, size);
    // The one who waits for it sees its error; until then it is not an unhandled rejection.
    run.catch(() => {});
    under.push(run);
  };
  for (let count = 0; count < AHEAD; count++) ask();
  for (let run = under.shift(); run !== undefined; run = under.shift()) {
    const { start, entries } = await run;
    ask();
    const known = Math.max(0, from - start);
    yield { start: start + known, entries: entries.slice(known) };
  }
}

/** The entries of the bundle with this index, in a tree of this size. */
export async function bundleAt(source: LogSource, index: number, size: number): Promise<EntryRun> {
  const { width } = tileOf(0, index, size);
  const { tile, bytes } = await servedTile(source, { level: 'entries', index, width }, BUNDLE_MAX);
  return { start: index * TILE_WIDTH, entries: readEntryBundle(tile, bytes).slice(0, width) };
}

/** The hashes of a tile, exactly as many as its width. */
export async function hashesOf(source: LogSource, tile: HashTile): Promise<Uint8Array> {
  const served = await servedTile(source, tile, TILE_WIDTH * HASH_LENGTH);
  readTile({ ...served.tile, level: tile.level }, served.bytes);
  return served.bytes.subarray(0, tile.width * HASH_LENGTH);
}

/** A tile, or the full one that has replaced a partial one since (tlog-tiles allows a log to delete partial tiles). */
async function servedTile(source: LogSource, tile: Tile, longest: number): Promise<{ tile: Tile; bytes: Uint8Array }> {
  try {
    return { tile, bytes: await source.read(tilePath(tile), longest) };
  } catch (error) {
    if (!isMissing(error) || tile.width === TILE_WIDTH) throw error;
    const full = { ...tile, width: TILE_WIDTH };
    try {
      return { tile: full, bytes: await source.read(tilePath(full), longest) };
    } catch (second) {
      // The partial tile is the one that the checkpoint asks for.
      throw isMissing(second) ? error : second;
    }
  }
}
