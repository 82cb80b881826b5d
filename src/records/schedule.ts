import { MINUTE } from '../time.ts';

// When hostnames are probed. The functions are pure: callers pass the clock and randomness. All times in ms.

/** How long after a value went missing the confirming probe runs. */
export const CONFIRM_AFTER = 5 * MINUTE;
/** How long to wait after a probe that learned nothing. It doubles each time. */
export const RETRY_AFTER = 10 * MINUTE;
/**
 * Jitter: the fraction of the interval by which a probe may be early or late, so that load peaks do not repeat daily.
 */
const DRIFT = 0.05;

/** The inputs that determine the time of the next probe. */
export interface ScheduleInput {
  /** When the probe was recorded. */
  now: number;
  /** The probe interval from the settings. */
  every: number;
  /** Whether a missing value waits for confirmation. */
  unconfirmed: boolean;
  /** Consecutive probes that learned nothing, including this one; 0 when it learned something. */
  failures: number;
  /** In [0, 1). */
  random: number;
}

/** When a hostname is due again. Missed probes are skipped. */
export function nextProbeAt({ now, every, unconfirmed, failures, random }: ScheduleInput): number {
  if (failures > 0) return now + Math.min(every, RETRY_AFTER * 2 ** Math.min(failures - 1, 20));
  if (unconfirmed) return now + Math.min(every, CONFIRM_AFTER);
  return now + Math.round(every * (1 - DRIFT + 2 * DRIFT * random));
}

/**
 * The time of an observation: when the probe began, but never later than the present and never earlier than the
 * domain's last observation, so that a clock set back yields equal times and never a wrong order. It is also never
 * earlier than the start of the key's validity (`nbf`): a probe in progress when the key changed gets the time of the
 * change.
 */
export function observedAt(lookedAt: number, now: number, last: number | null, nbf = 0): number {
  return Math.max(last ?? 0, nbf, Math.min(lookedAt, now));
}

/**
 * The operator whose name servers a lease must not overload: their registrable domain where it is known, else the
 * host's.
 */
export function operatorOf(
  hostname: string,
  nameservers: readonly string[],
  registrable: (name: string) => string | null,
): string {
  const first = nameservers[0];
  return (first === undefined ? null : registrable(first)) ?? registrable(hostname) ?? hostname;
}
