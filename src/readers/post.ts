import type { Mail, Mailer, MailRecord, MailTable } from './mail.ts';

/** How many mails are claimed at a time. */
const BATCH = 20;
/** For how long a claim holds, in ms: longer than a batch takes. */
const LEASE = 10 * 60_000;
/** After how many attempts a mail is given up. */
const ATTEMPTS_MAX = 12;
/** The first and the longest wait after an attempt that failed, in ms. */
const WAIT_FIRST = 60_000;
const WAIT_MAX = 6 * 3_600_000;

/** What sending takes. */
export interface Post {
  mails: MailTable;
  mailer: Mailer;
  now(): number;
  /** Makes a mail as it is to be sent; null when there is nothing to tell any more. */
  compose(mail: MailRecord): Mail | null;
  /** Told of every attempt that failed. The error may name an address: log its kind alone. */
  failed(mail: MailRecord, error: unknown): void;
}

/**
 * Sends what is due until nothing is. A mail is recorded after it was sent: only
 * a crash between the two sends one again, under the same Message-ID. Returns
 * how many went out.
 */
export async function sendDue({ mails, mailer, now, compose, failed }: Post): Promise<number> {
  let count = 0;
  for (;;) {
    const claimed = mails.claim(now(), now() + LEASE, BATCH);
    if (claimed.length === 0) return count;
    for (const mail of claimed) {
      try {
        const made = compose(mail);
        if (made !== null) {
          await mailer.send(made);
          count++;
        }
        mails.sent(mail.id, now());
      } catch (error) {
        failed(mail, error);
        const kind = (error as { code?: unknown }).code;
        const reason = typeof kind === 'string' ? kind : 'failed';
        if (mail.attempts >= ATTEMPTS_MAX) mails.fail(mail.id, now(), reason);
        else mails.postpone(mail.id, now() + waitAfter(mail.attempts), reason);
      }
    }
  }
}

/** How long to wait after so many attempts (from 1), in ms: each time twice as long. */
export function waitAfter(attempts: number): number {
  return Math.min(WAIT_MAX, WAIT_FIRST * 2 ** (attempts - 1));
}
