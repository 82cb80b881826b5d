import { join } from 'node:path';
import { Readable } from 'node:stream';
import { HASH_LENGTH } from '../../../proof/log/fields.ts';
import { LogFault } from '../../../proof/log/log-fault.ts';
import { readPolicy } from '../../../proof/log/node-crypto.ts';
import type { Policy } from '../../../proof/log/policy.ts';
import {
  ENTRY_MAX,
  type HashTile,
  readEntryBundle,
  readTile,
  TILE_WIDTH,
  type Tile,
  tileOf,
  tilePath,
} from '../../../proof/log/tile.ts';
import { type LogTree, logTree } from '../../../proof/log/tree.ts';
import { caught, Fault } from '../../../shared/fault.ts';
import { fetched, fetchedBytes, isAddress, readBytes, readText } from '../verify-sources.ts';

/** The files of a published log (C2SP tlog-tiles), in a folder or at an address. */
export interface LogSource {
  /** The folder, or the address with a slash at its end. */
  where: string;
  /**
   * Reads a file of the log. Throws `not_found` without one, and `unavailable` for one that is unreadable or too long.
   */
  read(path: string, longest: number): Promise<Uint8Array>;
}

const GIVE = 'the folder or the address of a log, in which the file checkpoint is';
const TOO_MANY_REQUESTS = 429;
/** How long a server may send nothing, and a whole response may take, in ms. */
const PATIENCE = { silence: 10_000, whole: 60_000 };

export function logSource(where: string): LogSource {
  if (!isAddress(where)) {
    return { where, read: (path, longest) => readBytes(join(where, path), GIVE, longest) };
  }
  const base = where.endsWith('/') ? where : `${where}/`;
  return {
    where: base,
    read: (path, longest) => fetchedBytes(base + path, GIVE, { bytes: longest, accept: '*/*', ...PATIENCE }),
  };
}

/** Whether an error says that a log has no such file. A server that fails, or is asked too often, does not say it. */
export function isMissing(error: unknown): boolean {
  if (!(error instanceof Fault) || error.code !== 'not_found') return false;
  const { status } = error.details;
  return typeof status !== 'number' || (status < 500 && status !== TOO_MANY_REQUESTS);
}

const BUNDLE_MAX = TILE_WIDTH * (2 + ENTRY_MAX);
/** The number of bundles that are fetched at the same time. */
const AHEAD = 8;

/** Consecutive entries of a log. */
interface EntryRun {
  /** The index of the first one. */
  start: number;
  entries: Uint8Array[];
}

/** The entries from index `from` up to `size`, at most 256 at a time. Throws a LogFault for a malformed bundle. */
export async function* entriesFrom(source: LogSource, from: number, size: number): AsyncGenerator<EntryRun> {
  // A generator, because a log may claim any size.
  const indexes = function* () {
    for (let index = Math.floor(from / TILE_WIDTH); index * TILE_WIDTH < size; index++) yield index;
  };
  const runs = Readable.from(indexes()).map((index: number) => bundleAt(source, index, size), { concurrency: AHEAD });
  for await (const { start, entries } of runs as AsyncIterable<EntryRun>) {
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
      // Report the partial tile, because the checkpoint requires that one.
      throw isMissing(second) ? error : second;
    }
  }
}

/** Number of cached tiles, of 8 kB at most. */
const KEPT_MAX = 512;

/** A tree of a given size, read from the tiles that a log serves. It verifies nothing; that is left to the caller. */
export class ServedTree {
  readonly #source: LogSource;
  readonly #size: number;
  readonly #tiles = new Map<string, Uint8Array>();

  constructor(source: LogSource, size: number) {
    this.#source = source;
    this.#size = size;
  }

  /** Computes something from the tree, after fetching the tiles that this needs. */
  async ask<T>(compute: (tree: LogTree) => T): Promise<T> {
    for (;;) {
      let missing: HashTile | null = null;
      const tree = logTree(this.#size, (tile) => {
        const bytes = this.#tiles.get(tilePath(tile));
        if (bytes !== undefined) return bytes;
        missing = tile;
        throw new MissingTile();
      });
      try {
        return compute(tree);
      } catch (error) {
        if (!(error instanceof MissingTile) || missing === null) throw error;
        if (this.#tiles.size >= KEPT_MAX) this.#tiles.clear();
        this.#tiles.set(tilePath(missing), await hashesOf(this.#source, missing));
      }
    }
  }
}

class MissingTile extends Error {}

const POLICY = 'a tlog-policy, such as the file log/policy of a paper’s host';
/** Longer than any valid policy, in bytes. */
const LONGEST = 1_000_000;

/** The policy in a file or at an address. Throws a Fault that names the file, and the line that is wrong. */
export async function readPolicyAt(where: string): Promise<Policy> {
  const text = isAddress(where)
    ? await fetched(where, POLICY, { bytes: LONGEST, accept: '*/*' })
    : await readText(where, POLICY, LONGEST);
  const policy = caught(LogFault, () => readPolicy(text));
  if (policy instanceof LogFault) throw new Fault('invalid_request', `${where}: ${policy.message}`);
  return policy;
}
