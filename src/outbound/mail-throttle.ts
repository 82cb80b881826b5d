import { MINUTE } from '../time.ts';

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
