import { Fault } from './fault.ts';

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
export const UNUSED: KeyDays = { days: 0, first_day: null, last_day: null };

export const KEY_STATES = ['in_force', 'expired', 'revoked'] as const;
export type KeyState = (typeof KEY_STATES)[number];

/** The later of what a key is: revoked goes before expired. `isExpired` as its table knows. */
export function keyState({ revoked_at }: Pick<KeyLife, 'revoked_at'>, isExpired: boolean): KeyState {
  if (revoked_at !== null) return 'revoked';
  return isExpired ? 'expired' : 'in_force';
}

/** A key's life as rows tell it: times in ISO 8601, null for never. */
export function keyLifeRow(key: KeyLife, uses: KeyDays, isExpired: boolean) {
  const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
  return {
    state: keyState(key, isExpired),
    made_at: new Date(key.made_at).toISOString(),
    made_by: key.made_by,
    expires_at: iso(key.expires_at),
    used_at: iso(key.used_at),
    uses,
    revoked_at: iso(key.revoked_at),
    revoked_by: key.revoked_by,
  };
}

/** The log of a key in lines: who made it, the days on which it was used, its end, who revoked it. */
export function keyLog(key: KeyLife, days: string[], isExpired: boolean): { at: string; event: string; by?: string }[] {
  const iso = (ms: number) => new Date(ms).toISOString();
  return [
    { at: iso(key.made_at), event: 'made', by: key.made_by ?? 'unknown' },
    ...days.map((day) => ({ at: day, event: 'used' })),
    ...(isExpired && key.expires_at !== null ? [{ at: iso(key.expires_at), event: 'expired' }] : []),
    ...(key.revoked_at === null
      ? []
      : [{ at: iso(key.revoked_at), event: 'revoked', by: key.revoked_by ?? 'unknown' }]),
  ];
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const INSTANT = /^(\d{4}-\d{2}-\d{2})T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/;
const DAY_MS = 86_400_000;
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
      `${field} ${JSON.stringify(text.slice(0, 80))} ${why}; give a time to come with its zone, as in ${new Date(now + 30 * DAY_MS).toISOString().slice(0, 10)}T00:00:00Z, or leave it out for a key that lasts`,
      { field },
    );
  const day = DAY.test(text) ? text : INSTANT.exec(text)?.[1];
  const midnight = Date.parse(`${day}T00:00:00Z`);
  if (day === undefined || Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== day) {
    throw wrong('is no day or time of the calendar');
  }
  const at = day === text ? midnight + DAY_MS : Date.parse(text);
  if (Number.isNaN(at)) throw wrong('is no time of the calendar');
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
