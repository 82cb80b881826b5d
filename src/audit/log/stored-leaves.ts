import { messageOf } from '../../fault.ts';
import { sameBytes } from '../../ledger/bytes.ts';
import { type Leaf, type LogService, parseLeaf } from '../../ledger/log/leaf.ts';
import { TILE_WIDTH } from '../../ledger/log/tile.ts';
import { leafHash } from '../../ledger/merkle.ts';
import type { LogTables } from '../../transparency/log-tables.ts';
import { keyLeafFault } from './key-leaf.ts';

const KINDS: readonly (Leaf['kind'] | 'unreadable')[] = [
  'unreadable',
  'receipt',
  'receipt-hash',
  'withdrawal',
  'key',
  'key-retired',
  'clock',
];

/** What the leaves of a log say, in a byte for each. */
export interface StoredLeaves {
  /** The kind of each leaf, as a number for `nameOf`. */
  kinds: Uint8Array;
  withdrawals: { index: number; paper: string; piece: string; at: string; reason: string }[];
  nameOf(kind: number): string;
}

/**
 * Reads every leaf of a log. Appends to `faults` for each malformed leaf, and for each hash that does not match its
 * entry.
 */
export function storedLeaves(
  tables: LogTables,
  log: LogService,
  faults: string[],
  progress: (done: number, total: number) => void,
): StoredLeaves {
  const size = tables.size(log);
  const kinds = new Uint8Array(size);
  const withdrawals: StoredLeaves['withdrawals'] = [];
  for (let start = 0; start < size; start += TILE_WIDTH) {
    const end = Math.min(size, start + TILE_WIDTH);
    const [entries, hashes] = [tables.entries(log, start, end), tables.leafHashes(log, start, end)];
    if (entries.length < end - start)
      faults.push(`${end - start - entries.length} of the leaves ${start} to ${end - 1} are missing`);
    for (const [at, entry] of entries.entries()) {
      const index = start + at;
      if (!sameBytes(hashes[at] ?? new Uint8Array(), leafHash(entry)))
        faults.push(`leaf ${index}: its hash is not that of its entry`);
      try {
        const leaf = parseLeaf(entry);
        kinds[index] = KINDS.indexOf(leaf.kind);
        if (leaf.kind === 'withdrawal') withdrawals.push({ index, ...leaf });
        const fault = keyLeafFault(leaf);
        if (fault !== null) faults.push(`leaf ${index}: ${fault}`);
      } catch (error) {
        faults.push(`leaf ${index}: ${messageOf(error)}`);
      }
    }
    progress(end, size);
  }
  return { kinds, withdrawals, nameOf: (kind) => KINDS[kind] ?? 'unreadable' };
}
