import { decodeTime } from 'ulid';
import { DAY, HOUR, MINUTE, SECOND } from '../time.ts';
import type { Attempt, DeliveryJob, OffReason, Settlement } from './delivery.ts';
import type { MailJob } from './mail.ts';

/** The first and the longest wait of a mail after an attempt that failed: greylisting wants some minutes. */
const MAIL_WAIT_FIRST = MINUTE;
const MAIL_WAIT_MAX = 4 * HOUR;
/** After how long a mail is given up (RFC 5321, section 4.5.4.1: "at least 4-5 days"). */
export const MAIL_GIVE_UP = 5 * DAY;
/**
 * How long a mail that was refused for good waits, and after how long it is given up: "SHOULD NOT repeat the exact
 * request" (RFC 5321, section 4.2.1), but a refusal by mistake gets a day to be corrected.
 */
export const REFUSED_WAIT = 6 * HOUR;
export const REFUSED_GIVE_UP = DAY;
/** How long all mails pause after the mail server failed: doubled each time until one goes through. */
const PAUSE_FIRST = SECOND;
const PAUSE_MAX = 5 * MINUTE;

/** When a mail is tried again after an attempt that failed, in ms; null when it is given up. */
export function mailRetryAt({ id, attempts }: MailJob, isRefused: boolean, now: number): number | null {
  // A mail's id is a ULID, which begins with the time at which it was queued.
  const age = now - decodeTime(id);
  if (age >= (isRefused ? REFUSED_GIVE_UP : MAIL_GIVE_UP)) return null;
  return now + (isRefused ? REFUSED_WAIT : mailWait(attempts));
}

/** How long to wait after so many attempts (from 1), in ms: each time twice as long. */
export function mailWait(attempts: number): number {
  return Math.min(MAIL_WAIT_MAX, MAIL_WAIT_FIRST * 2 ** (attempts - 1));
}

/** How long all mails pause once the server failed that often in a row (from 1), in ms. */
export function serverPause(failures: number): number {
  return Math.min(PAUSE_MAX, PAUSE_FIRST * 2 ** (failures - 1));
}

/** How long after each failed attempt the next one comes, in ms (wire.md); after the last of them a delivery is given up. */
export const RETRIES = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
] as const;

/** "The resource is gone, and that is meant to last": how Standard Webhooks ends a subscription. */
export const GONE = 410;

/** What an attempt leads to that ended at a time (ms). */
export function settlementOf(
  { tries, by_hand }: Pick<DeliveryJob, 'tries' | 'by_hand'>,
  { status, error }: Attempt,
  ended: number,
): Settlement {
  if (error === null) return { state: 'delivered' };
  const wait = RETRIES[tries];
  if (by_hand || status === GONE || wait === undefined) return { state: 'failed' };
  return { state: 'waiting', due_at: ended + wait };
}

/**
 * Why a failed attempt switches its webhook off, or null: the receiver said that it is gone, or a delivery has used up
 * its retries and the receiver accepted nothing in all that time.
 */
export function offReason(
  { by_hand }: Pick<DeliveryJob, 'by_hand'>,
  { status }: Attempt,
  settlement: Settlement,
  { failingSince, firstAttempt }: { failingSince: number; firstAttempt: number },
): OffReason | null {
  if (status === GONE) return 'gone';
  return settlement.state === 'failed' && !by_hand && failingSince <= firstAttempt ? 'failing' : null;
}

/** The error word of a status; null for a success (Standard Webhooks: a redirect is a failure). */
export function statusError(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  if (status === GONE) return 'gone';
  return status >= 300 && status < 400 ? 'redirect' : 'status';
}
