import type { LogService } from '../ledger/log/leaf.ts';
import type { Policy } from '../ledger/log/policy.ts';
import { meetsQuorum } from '../ledger/log/quorum.ts';
import { vkeyOf } from './cosignature-from.ts';
import type { LogHead, LogTables } from './log-tables.ts';

/** A log and the policy by which its heads are cosigned. */
export interface WitnessedLog {
  log: LogService;
  origin: string;
  policy: Policy;
}

/** The leaves that a head has proven first: from `start` up to, not including, `end`. */
export interface CoveredLeaves {
  start: number;
  end: number;
}

/**
 * Stores the cosigned text of a head when its cosignatures meet the quorum: the checkpoint, and the lines of the
 * policy's witnesses in the policy's order. Returns the leaves whose proofs it fixes; null when it changed nothing.
 */
export function cosignHead(
  tables: Pick<LogTables, 'cosignatures' | 'newestCosigned' | 'setCosigned'>,
  { log, origin, policy }: WitnessedLog,
  { size, checkpoint }: Pick<LogHead, 'size' | 'checkpoint'>,
): CoveredLeaves | null {
  const start = tables.newestCosigned(log, origin)?.size ?? 0;
  // A leaf's proof is that of the first cosigned head over it, so an older head must not become cosigned afterwards.
  if (start >= size) return null;
  const lineOf = new Map(tables.cosignatures(log, origin, size).map(({ vkey, line }) => [vkey, line]));
  const cosigned = policy.witnesses.flatMap(({ name, key }) => {
    const line = lineOf.get(vkeyOf(key));
    return line === undefined ? [] : [{ name, line }];
  });
  if (!meetsQuorum(policy, new Set(cosigned.map(({ name }) => name)))) return null;
  const text = checkpoint + cosigned.map(({ line }) => `${line}\n`).join('');
  return tables.setCosigned(log, origin, size, text) ? { start, end: size } : null;
}
