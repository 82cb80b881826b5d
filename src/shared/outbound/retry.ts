import { decodeTime } from 'ulid';
import { DAY, HOUR, MINUTE, SECOND } from '../../proof/time.ts';
import type { Attempt, DeliveryJob, OffReason, Settlement } from './delivery.ts';
import type { MailJob } from './mail.ts';

/** The first and the longest wait after a failed attempt: greylisting takes some minutes. */
const MAIL_WAIT_FIRST = MINUTE;
const MAIL_WAIT_MAX = 4 * HOUR;
/** When a mail is given up (RFC 5321, section 4.5.4.1: "at least 4-5 days"). */
export const MAIL_GIVE_UP = 5 * DAY;
/**
 * How long a permanently rejected mail waits, and when it is given up: "SHOULD NOT repeat the exact request" (RFC 5321,
 * section 4.2.1), but a mistaken rejection gets a day to be corrected.
 */
export const REFUSED_WAIT = 6 * HOUR;
export const REFUSED_GIVE_UP = DAY;
/** How long all mails pause after the mail server failed. It doubles until a mail goes through. */
const PAUSE_FIRST = SECOND;
const PAUSE_MAX = 5 * MINUTE;

/** When a mail is retried after a failed attempt, in ms; null when it is given up. */
export function mailRetryAt({ id, attempts }: MailJob, isRefused: boolean, now: number): number | null {
  // A mail's id is a ULID, which begins with the time of queueing.
  const age = now - decodeTime(id);
  if (age >= (isRefused ? REFUSED_GIVE_UP : MAIL_GIVE_UP)) return null;
  return now + (isRefused ? REFUSED_WAIT : mailWait(attempts));
}

/** The wait after a number of attempts (from 1), in ms. It doubles each time. */
export function mailWait(attempts: number): number {
  return Math.min(MAIL_WAIT_MAX, MAIL_WAIT_FIRST * 2 ** (attempts - 1));
}

/** The pause of all mails after a number of consecutive server failures (from 1), in ms. */
export function serverPause(failures: number): number {
  return Math.min(PAUSE_MAX, PAUSE_FIRST * 2 ** (failures - 1));
}

/** The first and the longest wait after a witness failed, and the part of a wait that is random. */
const WITNESS_WAIT_FIRST = SECOND;
export const WITNESS_WAIT_MAX = HOUR;
const WITNESS_JITTER = 0.25;

/**
 * The wait before a witness is asked again after a number of consecutive failures (from 1), in ms. It doubles each
 * time, and is up to a quarter shorter, so that the logs of one witness do not all come back at once.
 */
export function witnessWait(failures: number, random: () => number = Math.random): number {
  const wait = Math.min(WITNESS_WAIT_MAX, WITNESS_WAIT_FIRST * 2 ** (failures - 1));
  return Math.round(wait * (1 - WITNESS_JITTER * random()));
}

/** The delay after each failed attempt, in ms (protocol 10). A delivery is given up after the last of them. */
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

/** 410 Gone, with which a receiver ends a subscription in Standard Webhooks. */
export const GONE = 410;

/** The settlement after an attempt that ended at a time (ms). */
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

/** Why a failed attempt switches its webhook off, or null: 410, or nothing accepted through a whole schedule. */
export function offReason(
  { by_hand }: Pick<DeliveryJob, 'by_hand'>,
  { status }: Attempt,
  settlement: Settlement,
  { failingSince, firstAttempt }: { failingSince: number; firstAttempt: number },
): OffReason | null {
  if (status === GONE) return 'gone';
  return settlement.state === 'failed' && !by_hand && failingSince <= firstAttempt ? 'failing' : null;
}

/** The error word of a status; null for a success. In Standard Webhooks a redirect is a failure. */
export function statusError(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  if (status === GONE) return 'gone';
  return status >= 300 && status < 400 ? 'redirect' : 'status';
}
