import { MINUTE } from '../time.ts';
/** Lets so many through a minute, evenly, and a second's worth at once after a rest. */
export class MailThrottle {
  readonly #perMs: number;
  readonly #most: number;
  #left: number;
  #at: number;

  /** No number lets all through. */
  constructor(perMinute: number | null, now: number) {
    this.#perMs = perMinute === null ? Number.POSITIVE_INFINITY : perMinute / MINUTE;
    this.#most = Math.max(1, this.#perMs * 1_000);
    this.#left = this.#most;
    this.#at = now;
  }

  /** How many may go now, at most `wanted`; they are counted as gone. */
  take(wanted: number, now: number): number {
    if (this.#perMs === Number.POSITIVE_INFINITY) return wanted;
    this.#left = Math.min(this.#most, this.#left + Math.max(0, now - this.#at) * this.#perMs);
    this.#at = now;
    const taken = Math.min(wanted, Math.floor(this.#left));
    this.#left -= taken;
    return taken;
  }

  /** Gives back what was taken and not used. */
  giveBack(count: number): void {
    this.#left += count;
  }
}
