import { MINUTE } from '../../proof/time.ts';
import type { Mail, Mailer, MailJob, MailQueue } from './mail.ts';
import { mailRetryAt, serverPause } from './retry.ts';

/** How long a lease lasts, in ms: longer than an attempt can take. */
export const LEASE_TIME = 10 * MINUTE;

/** A queue of mails, and their content. */
export interface MailSource<M extends MailJob> {
  queue: MailQueue<M>;
  /** Composes a mail; null when there is nothing left to say. */
  compose(mail: M): Promise<Mail | null>;
  /** Records that a mail was sent, in the transaction that settles it. */
  sent?(mail: M): void;
  /** The address does not accept mail: settles this mail and prevents further ones. */
  bounced(mail: M): void;
}

/** The dependencies of the sender. Sources that share a mail server share its throttle. */
export interface MailTransport {
  mailer: Mailer;
  throttle: MailThrottle;
  /** The most mails in flight. */
  width: number;
  now(): number;
  /** Runs a small write in a shared transaction, and resolves when it is on disk. */
  groupCommit<T>(work: () => T): Promise<T>;
  /** Whether this process holds the lease: only one process sends at a time. */
  mayStart(): boolean;
}

/** Events of the sender. None of them contains an address. */
export interface MailEvents<M extends MailJob> {
  sent(mail: M): void;
  failed(mail: M, fault: FailureSide, words: FailureWords): void;
  gaveUp(mail: M): void;
  /** The outcome could not be recorded, so the mail is sent again when its lease ends. */
  unrecorded(mail: M, error: unknown): void;
}

/**
 * Sends due mails. A mail is leased before it is sent and settled after, so that only a crash in between, or a lost
 * response of the server, sends one twice, under the same Message-ID.
 */
export class MailSender<M extends MailJob> {
  readonly #source: MailSource<M>;
  readonly #transport: MailTransport;
  readonly #events: MailEvents<M>;
  readonly #inFlight = new Set<Promise<void>>();
  #isOpen = true;
  /** Consecutive failures of the server, and the end of the pause that they cause. */
  #serverFailures = 0;
  #pausedUntil = 0;

  constructor(source: MailSource<M>, transport: MailTransport, events: MailEvents<M>) {
    this.#source = source;
    this.#transport = transport;
    this.#events = events;
  }

  /** Starts as many due mails as possible. When one ends, the next one starts. */
  start(): void {
    const { throttle, width, now, mayStart } = this.#transport;
    const at = now();
    if (!this.#isOpen || at < this.#pausedUntil || !mayStart()) return;
    // After a failure the server is tried with a single mail.
    const room = (this.#serverFailures > 0 ? 1 : width) - this.#inFlight.size;
    if (room <= 0) return;
    const wanted = throttle.reserve(room, at);
    if (wanted === 0) return;
    const leased = this.#source.queue.lease(at, at + LEASE_TIME, wanted);
    throttle.refund(wanted - leased.length);
    for (const mail of leased) this.#begin(mail);
  }

  /** Starts nothing more, and resolves when everything in flight is settled. */
  async stop(): Promise<void> {
    this.#isOpen = false;
    await this.idle();
  }

  /** Resolves when nothing is in flight. */
  async idle(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight);
  }

  #begin(mail: M): void {
    const work = this.#send(mail).finally(() => {
      this.#inFlight.delete(work);
      // The polling loop restarts what stops here.
      try {
        this.start();
      } catch (error) {
        this.#events.unrecorded(mail, error);
      }
    });
    this.#inFlight.add(work);
  }

  async #send(mail: M): Promise<void> {
    const { queue, compose, sent } = this.#source;
    const { mailer, now, groupCommit } = this.#transport;
    try {
      let composed: Mail | null;
      try {
        composed = await compose(mail);
        if (composed !== null) await mailer.send(composed);
      } catch (error) {
        await this.#failed(mail, error);
        return;
      }
      this.#serverFailures = 0;
      await groupCommit(() => {
        queue.sent(mail.id, now());
        if (composed !== null) sent?.(mail);
      });
      if (composed !== null) this.#events.sent(mail);
    } catch (error) {
      this.#events.unrecorded(mail, error);
    }
  }

  async #failed(mail: M, error: unknown): Promise<void> {
    const { queue, bounced } = this.#source;
    const { groupCommit } = this.#transport;
    const words = failureWords(error);
    const fault = faultOf(words);
    const at = this.#transport.now();
    this.#serverFailures = fault === 'server' ? this.#serverFailures + 1 : 0;
    if (fault === 'server') this.#pausedUntil = at + serverPause(this.#serverFailures);
    this.#events.failed(mail, fault, words);
    if (fault === 'reader') {
      await groupCommit(() => bounced(mail));
      return;
    }
    const retryAt = mailRetryAt(mail, fault === 'refused', at);
    if (retryAt !== null) {
      await groupCommit(() => queue.postpone(mail.id, retryAt, words.code));
    } else {
      await groupCommit(() => queue.fail(mail.id, at, words.code));
      this.#events.gaveUp(mail);
    }
  }
}

/** Why an attempt failed, as it may be logged: the server's own text may contain the address. */
export interface FailureWords {
  /** The mailer's error code, such as EENVELOPE or ETIMEDOUT. */
  code: string;
  /** The SMTP command that failed, such as `RCPT TO`. */
  command: string | null;
  /** The reply code, and the enhanced one (RFC 3463) if there is one. */
  reply: number | null;
  enhanced: string | null;
}

/**
 * What a failure affects. `reader`: the address does not accept mail, and must not be tried again. `mail`: this mail
 * may be accepted later. `refused`: this mail was rejected permanently, but not because of its mailbox. `server`: all
 * mails have to wait.
 */
export type FailureSide = 'reader' | 'mail' | 'refused' | 'server';

/** Reply codes that concern the mailbox unless an enhanced code says more (RFC 5321, section 4.2.3). */
const NO_MAILBOX = new Set([550, 551, 553]);

export function failureWords(error: unknown): FailureWords {
  const { code, command, responseCode, response, name } = Object(error) as Record<string, unknown>;
  const reply = typeof responseCode === 'number' ? responseCode : null;
  const enhanced = typeof response === 'string' ? /^\d{3}[ -]([245]\.\d{1,3}\.\d{1,3})\b/.exec(response)?.[1] : null;
  return {
    code: typeof code === 'string' ? code : typeof name === 'string' ? name : 'failed',
    command: typeof command === 'string' ? command : null,
    reply,
    enhanced: enhanced ?? null,
  };
}

/** Classifies a failure. */
export function faultOf({ code, command, reply, enhanced }: FailureWords): FailureSide {
  // "Service not available, closing" may answer any command.
  if (reply === 421) return 'server';
  const isAtRecipient = command === 'RCPT TO';
  // A mail has one recipient, so the reply to its text may be about the mailbox too.
  if ((isAtRecipient || command === 'DATA') && reply !== null && reply >= 500) {
    return isNoMailbox(reply, enhanced, isAtRecipient) ? 'reader' : 'refused';
  }
  if (isAtRecipient || command === 'DATA' || code === 'EMESSAGE' || code === 'AbortError' || code === 'TimeoutError')
    return 'mail';
  return /^(?:EAUTH|ECONNECTION|EDNS|ESOCKET|ETIMEDOUT|ETLS|EPROTOCOL|EENVELOPE|EREQUIRETLS)$/.test(code)
    ? 'server'
    : 'mail';
}

/** A policy, a full mailbox, an internal error or a text refused without an enhanced code leaves an address valid. */
function isNoMailbox(reply: number, enhanced: string | null, isAtRecipient: boolean): boolean {
  return enhanced === null ? isAtRecipient && NO_MAILBOX.has(reply) : /^5\.(?:1\.\d+|2\.1)$/.test(enhanced);
}

/** Limits mails per minute, evenly spread, with a burst of one second's worth after idle time. */
export class MailThrottle {
  readonly #perMs: number;
  readonly #burst: number;
  #left: number;
  #at: number;

  /** Null means no limit. */
  constructor(perMinute: number | null, now: number) {
    this.#perMs = perMinute === null ? Number.POSITIVE_INFINITY : perMinute / MINUTE;
    this.#burst = Math.max(1, this.#perMs * 1_000);
    this.#left = this.#burst;
    this.#at = now;
  }

  /** Reserves at most `wanted` mails that may be sent now; returns how many. */
  reserve(wanted: number, now: number): number {
    if (this.#perMs === Number.POSITIVE_INFINITY) return wanted;
    this.#left = Math.min(this.#burst, this.#left + Math.max(0, now - this.#at) * this.#perMs);
    this.#at = now;
    const reserved = Math.min(wanted, Math.floor(this.#left));
    this.#left -= reserved;
    return reserved;
  }

  /** Returns unused reservations. */
  refund(count: number): void {
    this.#left += count;
  }
}
