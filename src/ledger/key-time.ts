import { isoTime } from '../time.ts';
/** The period in which a key signs, in ms. This module does not hash: a reader's browser also uses it. */
export interface SigningPeriod {
  /** The key is not used before this time. */
  nbf: number;
  /** The key signs nothing from this time on; null while it is in use. */
  retired_at: number | null;
}

/**
 * The rule of every verifier (protocol 2.4): the time in a receipt lies within its key's period, `nbf` included and
 * `retired_at` excluded. A stolen retired key therefore cannot sign anything dated after its retirement. `what` begins
 * the message, as in `seq 3: observed`.
 */
export function signingPeriodFaults(what: string, iso: string, { nbf, retired_at }: SigningPeriod): string[] {
  const at = Date.parse(iso);
  const time = (ms: number): string => isoTime(ms);
  if (retired_at !== null && at >= retired_at)
    return [`${what} at ${iso}, but its key was retired at ${time(retired_at)}`];
  return at < nbf ? [`${what} at ${iso}, but its key was in use only from ${time(nbf)}`] : [];
}
