import { decodeTime } from 'ulid';
import { DAY, HOUR, MINUTE } from '../time.ts';
import type { Mail, Mailer, MailQueue, MailRecord, Sendable } from './mail.ts';
import type { FailureSide, FailureWords } from './mail-failure.ts';
import { failureWords, faultOf } from './mail-failure.ts';
import type { MailThrottle } from './mail-throttle.ts';

/** For how long a claim holds, in ms: longer than an attempt can take. */
export const LEASE = 10 * MINUTE;
/** The first and the longest wait of a mail after an attempt that failed, in ms: greylisting wants some minutes. */
const WAIT_FIRST = MINUTE;
const WAIT_MAX = 4 * HOUR;
/** After how long a mail is given up, in ms (RFC 5321, section 4.5.4.1: "at least 4-5 days"). */
export const GIVE_UP = 5 * DAY;
/**
 * How long a mail that was refused for good waits, and after how long it is given up, in ms: "SHOULD NOT repeat the
 * exact request" (RFC 5321, section 4.2.1), but what is refused by mistake gets a day to be mended.
 */
export const REFUSED_WAIT = 6 * HOUR;
export const REFUSED_GIVE_UP = DAY;
/** How long all mails rest after the server was at fault, in ms: doubled each time until one goes through. */
const PAUSE_FIRST = 1_000;
const PAUSE_MAX = 5 * MINUTE;

/** What sending works with: readers’ mails unless it is said otherwise. */
export interface SendingDesk<M extends Sendable = MailRecord> {
  mails: MailQueue<M>;
  mailer: Mailer;
  throttle: MailThrottle;
  /** How many are under way at a time. */
  width: number;
  now(): number;
  /** Makes a mail as it is to be sent; null when there is nothing to tell any more. */
  compose(mail: M): Promise<Mail | null>;
  /** Notes that a mail was sent, in the transaction that settles it. */
  noted(mail: M): void;
  /** Takes an address out that takes no mail. */
  bounced(mail: M): void;
  /** Does a small write together with others, and resolves when it is on the disk. */
  groupCommit<T>(work: () => T): Promise<T>;
  /** Whether mails may be begun: one process at a time sends. */
  mayBegin(): boolean;
}

/** What the sender tells whoever runs it. Nothing in it is an address. */
export interface SendingNews<M extends Sendable = MailRecord> {
  sent(mail: M): void;
  failed(mail: M, fault: FailureSide, words: FailureWords): void;
  gaveUp(mail: M): void;
  /** What was done could not be noted: it is done again when the claim has ended. */
  unnoted(mail: M, error: unknown): void;
}

/**
 * Sends what is due. A mail is claimed before it is sent and settled after: only
 * a crash between the two, or an answer of the server's that never came, sends
 * one again, under the same Message-ID.
 */
export class MailSender<M extends Sendable = MailRecord> {
  readonly #desk: SendingDesk<M>;
  readonly #news: SendingNews<M>;
  readonly #underWay = new Set<Promise<void>>();
  #isOpen = true;
  /** How often in a row the server was at fault, and until when all rest. */
  #troubles = 0;
  #restsUntil = 0;

  constructor(desk: SendingDesk<M>, news: SendingNews<M>) {
    this.#desk = desk;
    this.#news = news;
  }

  /** Begins with what is due as far as there is room; as each ends, the next one begins. */
  start(): void {
    const { mails, throttle, width, now } = this.#desk;
    const at = now();
    if (!this.#isOpen || at < this.#restsUntil || !this.#desk.mayBegin()) return;
    // A server that was at fault is tried with one mail.
    const room = (this.#troubles > 0 ? 1 : width) - this.#underWay.size;
    if (room <= 0) return;
    const wanted = throttle.take(room, at);
    if (wanted === 0) return;
    const claimed = mails.claim(at, at + LEASE, wanted);
    throttle.giveBack(wanted - claimed.length);
    for (const mail of claimed) this.#begin(mail);
  }

  /** Begins nothing more, and resolves when all that is under way is settled. */
  async stop(): Promise<void> {
    this.#isOpen = false;
    await this.idle();
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  #begin(mail: M): void {
    const work = this.#send(mail).finally(() => {
      this.#underWay.delete(work);
      // What stops here is begun again by the one who looks by the clock.
      try {
        this.start();
      } catch (error) {
        this.#news.unnoted(mail, error);
      }
    });
    this.#underWay.add(work);
  }

  async #send(mail: M): Promise<void> {
    const { mails, mailer, now, groupCommit } = this.#desk;
    try {
      let made: Mail | null;
      try {
        made = await this.#desk.compose(mail);
        if (made !== null) await mailer.send(made);
      } catch (error) {
        this.#failed(mail, error);
        return;
      }
      this.#troubles = 0;
      await groupCommit(() => {
        mails.sent(mail.id, now());
        if (made !== null) this.#desk.noted(mail);
      });
      if (made !== null) this.#news.sent(mail);
    } catch (error) {
      this.#news.unnoted(mail, error);
    }
  }

  #failed(mail: M, error: unknown): void {
    const { mails, now, bounced } = this.#desk;
    const words = failureWords(error);
    const fault = faultOf(words);
    const at = now();
    if (fault === 'server') {
      this.#restsUntil = at + Math.min(PAUSE_MAX, PAUSE_FIRST * 2 ** this.#troubles);
      this.#troubles++;
    } else {
      this.#troubles = 0;
    }
    this.#news.failed(mail, fault, words);
    if (fault === 'reader') {
      bounced(mail);
    } else if (at - madeAt(mail) >= (fault === 'refused' ? REFUSED_GIVE_UP : GIVE_UP)) {
      mails.fail(mail.id, at, words.code);
      this.#news.gaveUp(mail);
    } else {
      mails.postpone(mail.id, at + (fault === 'refused' ? REFUSED_WAIT : waitAfter(mail.attempts)), words.code);
    }
  }
}

/** How long to wait after so many attempts (from 1), in ms: each time twice as long. */
export function waitAfter(attempts: number): number {
  return Math.min(WAIT_MAX, WAIT_FIRST * 2 ** (attempts - 1));
}

/** When a mail was queued, in ms: its id is a ULID, which begins with that time. */
function madeAt({ id }: Sendable): number {
  return decodeTime(id);
}
