import { MINUTE } from '../time.ts';
/** When hostnames are looked at. Pure: the clock and chance are passed in. All times in ms. */

/** After a value went missing, the look that confirms it. */
export const CONFIRM_AFTER = 5 * MINUTE;
/** After a look that learned nothing at all; doubled each time. */
export const RETRY_AFTER = 10 * MINUTE;
/** A host's looks drift apart by up to this part of the interval either way, so that no rush repeats itself daily. */
const DRIFT = 0.05;

/** What decides when the next look is. */
export interface ScheduleInput {
  /** When the look was entered. */
  now: number;
  /** The interval of the settings. */
  every: number;
  /** Whether a missing value waits to be confirmed. */
  unconfirmed: boolean;
  /** Looks in a row that learned nothing, this one included; 0 when it learned something. */
  failures: number;
  /** From 0 up to, not including, 1. */
  random: number;
}

/** When a hostname is due again. Slots that were missed are not caught up with. */
export function nextProbeAt({ now, every, unconfirmed, failures, random }: ScheduleInput): number {
  if (failures > 0) return now + Math.min(every, RETRY_AFTER * 2 ** Math.min(failures - 1, 20));
  if (unconfirmed) return now + Math.min(every, CONFIRM_AFTER);
  return now + Math.round(every * (1 - DRIFT + 2 * DRIFT * random));
}

/**
 * The time that an observation says: when the look was begun, but never after the
 * present, and never before the domain's last observation. A clock that was put
 * back thus makes observations of one time, and none in the wrong order. Nor is
 * any from before its key was in use (`nbf`): a look that was under way when the
 * key changed is of the moment at which it changed.
 */
export function observedAt(lookedAt: number, now: number, last: number | null, nbf = 0): number {
  return Math.max(last ?? 0, nbf, Math.min(lookedAt, now));
}

/** Who must not be asked too much at once: the name servers' operator where it is known, else the registered name. */
export function operatorOf(
  hostname: string,
  nameservers: readonly string[],
  registrable: (name: string) => string | null,
): string {
  const first = nameservers[0];
  return (first === undefined ? null : registrable(first)) ?? registrable(hostname) ?? hostname;
}
