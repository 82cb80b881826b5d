import { Fault } from './fault.ts';
import { DAY, dayOf, isDay, isoOrNull, isoTime, parseSpan } from './time.ts';

/** A key from its making to its end. Times in ms. */
export interface KeyLife {
  made_at: number;
  /** Who made it: `cli` for a command of the operator's, `key:<id>`, `session:<id>` of an account; null for one from before there was a log. */
  made_by: string | null;
  /** From when on it opens nothing; null for one that lasts. */
  expires_at: number | null;
  /** The last use that was noted; noting lags a little behind. */
  used_at: number | null;
  revoked_at: number | null;
  /** As `made_by`. */
  revoked_by: string | null;
}

/** On which UTC days a key was used. */
export interface KeyDays {
  days: number;
  first_day: string | null;
  last_day: string | null;
}

/** What a key that was never used tells of that. */
export const NEVER_USED: KeyDays = { days: 0, first_day: null, last_day: null };

export const KEY_STATES = ['in_force', 'expired', 'revoked'] as const;
export type KeyState = (typeof KEY_STATES)[number];

/** The later of what a key is: revoked goes before expired. `isExpired` as its table knows. */
export function keyState({ revoked_at }: Pick<KeyLife, 'revoked_at'>, isExpired: boolean): KeyState {
  if (revoked_at !== null) return 'revoked';
  return isExpired ? 'expired' : 'in_force';
}

/** A key's life as rows tell it: times in ISO 8601, null for never. */
export function keyLifeRow(key: KeyLife, uses: KeyDays, isExpired: boolean) {
  return {
    state: keyState(key, isExpired),
    made_at: isoTime(key.made_at),
    made_by: key.made_by,
    expires_at: isoOrNull(key.expires_at),
    used_at: isoOrNull(key.used_at),
    uses,
    revoked_at: isoOrNull(key.revoked_at),
    revoked_by: key.revoked_by,
  };
}

/** The log of a key in lines: who made it, the days on which it was used, its end, who revoked it. */
export function keyLog(key: KeyLife, days: string[], isExpired: boolean): { at: string; event: string; by?: string }[] {
  return [
    { at: isoTime(key.made_at), event: 'made', by: key.made_by ?? 'unknown' },
    ...days.map((day) => ({ at: day, event: 'used' })),
    ...(isExpired && key.expires_at !== null ? [{ at: isoTime(key.expires_at), event: 'expired' }] : []),
    ...(key.revoked_at === null
      ? []
      : [{ at: isoTime(key.revoked_at), event: 'revoked', by: key.revoked_by ?? 'unknown' }]),
  ];
}

/** The last moment that has four digits for its year. */
const LAST = Date.UTC(10_000, 0, 1) - 1;

/**
 * When a key is to end, in ms: an instant with its zone, or a UTC day, to its
 * end. Throws `invalid_request` naming the field unless that is in the future.
 */
export function keyExpiry(text: string, field: string, now: number): number {
  const wrong = (why: string): Fault =>
    new Fault(
      'invalid_request',
      `${field} ${JSON.stringify(text.slice(0, 80))} ${why}; give a time to come with its zone, as in ${dayOf(now + 30 * DAY)}T00:00:00Z, or leave it out for a key that lasts`,
      { field },
    );
  const span = parseSpan(text);
  if (span === null) throw wrong('is no day or time of the calendar');
  const at = isDay(text) ? span.until : span.from;
  if (at <= now) throw wrong('has passed');
  // RFC 3339, section 1, by which answers are written, ends there.
  if (at > LAST) throw wrong('is after the year 9999');
  return at;
}

/**
 * Which keys have ended. One that was found ended stays so for this process,
 * also when its clock is set back.
 */
export class Expiries {
  readonly #ended = new Set<string>();

  has({ id, expires_at }: { id: string; expires_at: number | null }, now: number): boolean {
    if (expires_at === null) return false;
    if (now >= expires_at) this.#ended.add(id);
    return this.#ended.has(id);
  }
}
