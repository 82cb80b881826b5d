import { sameBytes } from '../ledger/bytes.ts';
import type { Checkpoint } from '../ledger/log/checkpoint.ts';
import type { TileReader } from '../ledger/log/tile.ts';
import { logTree } from '../ledger/log/tree.ts';

/** Whether the tree of these tiles had this root at this size. */
export function hasRoot(read: TileReader, { size, root }: Pick<Checkpoint, 'size' | 'root'>): boolean {
  return sameBytes(logTree(size, read).root(), root);
}
