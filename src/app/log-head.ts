import { appendLeaves } from '../ledger/log/append.ts';
import { checkpointText, parseCheckpoint } from '../ledger/log/checkpoint.ts';
import type { LogService } from '../ledger/log/leaf.ts';
import { hashAt, hashesAt, TILE_WIDTH } from '../ledger/log/tile.ts';
import { logTree } from '../ledger/log/tree.ts';
import { signNote } from '../ledger/signing.ts';
import type { Store } from '../store/store.ts';
import { hasRoot } from '../transparency/log-root.ts';
import type { LogTables } from '../transparency/log-tables.ts';
import { rewrittenLine } from './log-fence.ts';
import type { LogKey } from './log-key.ts';

/** Leaves whose nodes are stored in one transaction: other writers and requests wait for no more. */
export const NODES_BATCH = 16 * TILE_WIDTH;

/** The result of one step towards the next head. */
export type HeadStep =
  /** Nodes were stored; there are more leaves than one transaction takes. */
  | 'more'
  /** A head was signed. */
  | 'signed'
  /** The newest head covers every leaf, or this copy must not sign. */
  | 'none';

/** Takes one step towards a head over all leaves, in one transaction. Call it again after `more`. */
export function signHead(
  { store, now }: { store: Pick<Store, 'transact' | 'log'>; now(): number },
  log: LogService,
  { origin, signer }: LogKey,
): HeadStep {
  const tables = store.log;
  return store.transact(() => {
    if (!tables.isFilled(log) || tables.fence(log) !== null) return 'none';
    const size = tables.size(log);
    const last = tables.newestHead(log, origin);
    if (size <= (last?.size ?? 0)) return 'none';
    if (!addNodes(tables, log, size)) return 'more';
    const read = tables.tiles(log);
    const before = last === null ? null : parseCheckpoint(last.checkpoint);
    if (before !== null && !hasRoot(read, before)) {
      tables.setFence(log, rewrittenLine(log, before));
      return 'none';
    }
    const checkpoint = signNote(checkpointText({ origin, size, root: logTree(size, read).root() }), signer);
    // Never earlier than the head before, even when the clock was set back since.
    tables.addHead(log, { origin, size, signed_at: Math.max(now(), last?.signed_at ?? 0), checkpoint });
    return 'signed';
  });
}

/** Stores the nodes over full tiles of a tree of `size` leaves, at most one batch. Returns whether all are stored. */
function addNodes(tables: LogTables, log: LogService, size: number): boolean {
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
