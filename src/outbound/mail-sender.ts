import { MINUTE } from '../time.ts';
import type { Mail, Mailer, MailJob, MailQueue } from './mail.ts';
import type { FailureSide, FailureWords } from './mail-failure.ts';
import { failureWords, faultOf } from './mail-failure.ts';
import type { MailThrottle } from './mail-throttle.ts';
import { mailRetryAt, serverPause } from './retry.ts';

/** How long a claim lasts, in ms: longer than an attempt can take. */
export const CLAIM_TIME = 10 * MINUTE;

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
  /** The outcome could not be recorded, so the mail is sent again when its claim ends. */
  unrecorded(mail: M, error: unknown): void;
}

/**
 * Sends due mails. A mail is claimed before it is sent and settled after, so that only a crash in between, or a lost
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
    const claimed = this.#source.queue.claim(at, at + CLAIM_TIME, wanted);
    throttle.refund(wanted - claimed.length);
    for (const mail of claimed) this.#begin(mail);
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
