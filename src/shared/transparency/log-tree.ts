import { sameBytes } from '../../proof/bytes.ts';
import { appendLeaves } from '../../proof/log/append.ts';
import type { Checkpoint } from '../../proof/log/checkpoint.ts';
import type { LogService } from '../../proof/log/leaf.ts';
import { type LogProof, tlogProofText } from '../../proof/log/log-proof.ts';
import { loggedEntries } from '../../proof/log/logged-entries.ts';
import { hashAt, hashesAt, TILE_WIDTH, type TileReader, tileOf } from '../../proof/log/tile.ts';
import { logTree, tileNodes } from '../../proof/log/tree.ts';
import { leafHash } from '../../proof/merkle.ts';
import type { LogTables } from './log-tables.ts';

type ProofTables = Pick<LogTables, 'indexOf' | 'firstCosignedOver' | 'cosignedSize' | 'tiles'>;

/**
 * Proves that notes are in the log, each from the first cosigned head over it, so that its proof never changes; null
 * before. Proofs by neighboring leaves and heads share the hashes of their tiles.
 */
export function logProver(tables: ProofTables, log: LogService): (note: string) => LogProof | null {
  const read = tables.tiles(log);
  // As wide as cosigned heads reach, so that one tile serves the trees of all of them.
  const nodes = tileNodes(({ level, index }) => read(tileOf(level, index, tables.cosignedSize(log))));
  return (note) => {
    const index = indexOfNote(tables, log, note);
    const head = index === null ? null : tables.firstCosignedOver(log, index);
    if (index === null || head?.cosigned == null) return null;
    const path = logTree(head.size, read, nodes).inclusionProof(index);
    return {
      origin: head.origin,
      index,
      tlog_proof: tlogProofText({ index, path, checkpoint: head.cosigned, extra: null }),
    };
  };
}

/** The index of a note's own leaf, else of the leaf with its hash; null when it has neither. */
function indexOfNote(tables: Pick<LogTables, 'indexOf'>, log: LogService, note: string): number | null {
  for (const entry of loggedEntries(note)) {
    const index = tables.indexOf(log, leafHash(entry));
    if (index !== null) return index;
  }
  return null;
}

/** Whether the tree of these tiles had this root at this size. */
export function hasRoot(read: TileReader, { size, root }: Pick<Checkpoint, 'size' | 'root'>): boolean {
  return sameBytes(logTree(size, read).root(), root);
}

/** The number of leaves whose nodes are stored in one transaction, so that other writers and requests wait briefly. */
const NODES_BATCH = 16 * TILE_WIDTH;

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
