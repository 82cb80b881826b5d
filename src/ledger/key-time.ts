import { isoTime } from '../time.ts';
/** The time in which a key signs, in ms. Nothing here hashes: a reader's browser judges by it too. */
export interface SigningPeriod {
  /** Not used before. */
  nbf: number;
  /** From then on it signs nothing; null while it is in use. */
  retired_at: number | null;
}

/**
 * The rule of every verifier: the time in a receipt lies within its key's period,
 * `nbf` included and `retired_at` excluded. A stolen retired key can sign nothing
 * that is dated after its retirement. `what` begins the message, as in
 * `seq 3: observed`.
 */
export function signingPeriodFaults(what: string, iso: string, { nbf, retired_at }: SigningPeriod): string[] {
  const at = Date.parse(iso);
  const time = (ms: number): string => isoTime(ms);
  if (retired_at !== null && at >= retired_at)
    return [`${what} at ${iso}, but its key was retired at ${time(retired_at)}`];
  return at < nbf ? [`${what} at ${iso}, but its key was in use only from ${time(nbf)}`] : [];
}
