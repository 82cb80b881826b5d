import { DAY, dayOf, isDay, isoOrNull, isoTime, parseSpan } from '../proof/time.ts';
import { Fault } from './fault.ts';

/** The life of an access key. Times in ms. */
export interface KeyLife {
  made_at: number;
  /**
   * The creator: `cli` for an operator's command, `key:<id>`, `session:<id>` of an account, or `link:<id>` for the first
   * seat of a paper; null for keys older than the log.
   */
  made_by: string | null;
  /** When it expires; null for never. */
  expires_at: number | null;
  /** The last recorded use, which may lag slightly. */
  used_at: number | null;
  revoked_at: number | null;
  /** Like `made_by`. */
  revoked_by: string | null;
}

/** The UTC days on which a key was used. */
export interface KeyDays {
  days: number;
  first_day: string | null;
  last_day: string | null;
}

/** The use of a key that was never used. */
export const NEVER_USED: KeyDays = { days: 0, first_day: null, last_day: null };

export const KEY_STATES = ['in_force', 'expired', 'revoked'] as const;

/** A key's life as rows show it: times in ISO 8601, null for never. */
export function keyLifeRow(key: KeyLife, uses: KeyDays, isExpired: boolean) {
  const state: (typeof KEY_STATES)[number] = key.revoked_at !== null ? 'revoked' : isExpired ? 'expired' : 'in_force';
  return {
    state,
    made_at: isoTime(key.made_at),
    made_by: key.made_by,
    expires_at: isoOrNull(key.expires_at),
    used_at: isoOrNull(key.used_at),
    uses,
    revoked_at: isoOrNull(key.revoked_at),
    revoked_by: key.revoked_by,
  };
}

/** A key's log: its creation, the days on which it was used, its expiry, its revocation. */
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

/** The last ms of the year 9999, the latest that RFC 3339 can write (section 1). */
const LAST = Date.UTC(10_000, 0, 1) - 1;

/**
 * Parses a key's expiry into ms: an instant with its zone, or the end of a UTC day. Throws `invalid_request` naming the
 * field unless it is in the future.
 */
export function keyExpiry(text: string, field: string, now: number): number {
  const wrong = (why: string): Fault =>
    new Fault(
      'invalid_request',
      `${field} ${JSON.stringify(text.slice(0, 80))} ${why}; give a future time with its zone, as in ${dayOf(now + 30 * DAY)}T00:00:00Z, or leave it out for a key that does not expire`,
      { field },
    );
  const span = parseSpan(text);
  if (span === null) throw wrong('is not a valid date or time');
  const at = isDay(text) ? span.until : span.from;
  if (at <= now) throw wrong('has passed');
  if (at > LAST) throw wrong('is after the year 9999');
  return at;
}

/**
 * Knows which keys have expired. An expired key stays expired for this process even when its clock is set back.
 */
export class Expiries {
  readonly #ended = new Set<string>();

  has({ id, expires_at }: { id: string; expires_at: number | null }, now: number): boolean {
    if (expires_at === null) return false;
    if (now >= expires_at) this.#ended.add(id);
    return this.#ended.has(id);
  }
}
