import { isoTime } from '../time.ts';
/** The time in which a key signs, in ms. Nothing here hashes: a reader's browser judges by it too. */
export interface SigningPeriod {
  /** Not used before. */
  nbf: number;
  /** From here on it signs nothing any more; null while it signs. */
  retired_at: number | null;
}

/**
 * The one rule of every verifier: the time that a receipt says lies in the life
 * of the key that signed it, `nbf` included and `retired_at` not. Whoever finds
 * the secret of a retired key can date nothing to after its retirement. `what`
 * begins the sentence, as `seq 3: observed`.
 */
export function signingPeriodFaults(what: string, iso: string, { nbf, retired_at }: SigningPeriod): string[] {
  const at = Date.parse(iso);
  const time = (ms: number): string => isoTime(ms);
  if (retired_at !== null && at >= retired_at)
    return [`${what} at ${iso}, but its key was retired at ${time(retired_at)}`];
  return at < nbf ? [`${what} at ${iso}, but its key was in use only from ${time(nbf)}`] : [];
}
