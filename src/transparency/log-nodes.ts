import { appendLeaves } from '../ledger/log/append.ts';
import type { LogService } from '../ledger/log/leaf.ts';
import { hashAt, hashesAt, TILE_WIDTH } from '../ledger/log/tile.ts';
import type { LogTables } from './log-tables.ts';

/** Leaves whose nodes are stored in one transaction: other writers and requests wait for no more. */
export const NODES_BATCH = 16 * TILE_WIDTH;

/** Stores the nodes over full tiles of a tree of `size` leaves, at most one batch. Returns whether all are stored. */
export function addNodes(tables: LogTables, log: LogService, size: number): boolean {
  const old = tables.nodeCount(log, 1) * TILE_WIDTH;
  const full = hashesAt(1, size) * TILE_WIDTH;
  const next = Math.min(full, old + NODES_BATCH);
  const { tiles } = appendLeaves(old, tables.leafHashes(log, old, next), tables.tiles(log));
  for (const { tile, bytes } of tiles) {
    if (tile.level === 0) continue;
    const kept = Math.max(0, hashesAt(tile.level, old) - tile.index * TILE_WIDTH);
    const hashes = Array.from({ length: tile.width - kept }, (_, at) => hashAt(bytes, kept + at));
    tables.addNodes(log, tile.level, tile.index * TILE_WIDTH + kept, hashes);
  }
  return next === full;
}
