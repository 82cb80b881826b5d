import type { Cosigner } from '../../ledger/log/verify-checkpoint.ts';
import { isoTime } from '../../time.ts';

/** A witness that cosigned a checkpoint, for a report: its name in the policy, and when, in ISO 8601. */
export interface CosignedBy {
  name: string;
  at: string;
}

export function cosignedBy(cosigners: Cosigner[]): CosignedBy[] {
  return cosigners.map(({ witness, time }) => ({ name: witness.name, at: isoTime(time * 1_000) }));
}
