import type { Logger } from 'pino';
import type { AppContext } from '../../../src/app/context.ts';
import { newId } from '../../../src/app/context.ts';
import { Fault } from '../../../src/fault.ts';
import { STREAMS_MAX } from '../../../src/limits.ts';
import { MINUTE } from '../../../src/time.ts';

/** How long a stream counts without a renewal, and how often its process renews it, in ms. */
const LASTS = MINUTE;
const RENEWED_EVERY = 15_000;
/** `Retry-After` of a rejected stream, in seconds: by then the streams of a crashed process have expired. */
export const RETRY_AFTER = String(LASTS / 1_000);

/**
 * Limits the open streams of each account, and of each address that pays per call, in the database, so that every
 * process shares the limit. Keys without an account are the operator's own and are not counted.
 */
export class StreamQuota {
  readonly #app: Pick<AppContext, 'store' | 'now'>;
  readonly #logger: Logger;
  readonly #open = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(app: Pick<AppContext, 'store' | 'now'>, logger: Logger) {
    this.#app = app;
    this.#logger = logger;
  }

  /** Counts a stream of an account, or of an address without one. Returns what releases it. Throws `rate_limited`. */
  async take({ account, caller }: { account: string | null; caller: string }): Promise<() => void> {
    const { store, now } = this.#app;
    const holder = account === null ? `address:${caller}` : `account:${account}`;
    const most = account === null ? STREAMS_MAX.address : STREAMS_MAX.account;
    const id = newId();
    // Rejected callers never take the write lock.
    const isOpen =
      store.quotas.openStreams(holder, now(), LASTS) < most &&
      (await store.groupCommit(() => store.quotas.openStream({ id, holder }, now, { most, lasts: LASTS })));
    if (!isOpen) {
      const whose = account === null ? 'this address' : 'this account';
      throw new Fault('rate_limited', `${whose} has ${most} streams open, which is the limit; close one first`);
    }
    this.#open.set(id, holder);
    this.#timer ??= setInterval(() => this.#renew(), RENEWED_EVERY).unref();
    return () => this.#release(id);
  }

  #release(id: string): void {
    if (!this.#open.delete(id)) return;
    if (this.#open.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    // A stream that is not released here expires.
    this.#app.store
      .groupCommit(() => this.#app.store.quotas.endStream(id))
      .catch((error: unknown) => this.#failed(error));
  }

  #renew(): void {
    const { store, now } = this.#app;
    // The map is read inside the transaction, so that streams which ended meanwhile are not renewed.
    store
      .groupCommit(() => store.quotas.renewStreams([...this.#open], now() + LASTS))
      .catch((error: unknown) => this.#failed(error));
  }

  #failed(error: unknown): void {
    this.#logger.warn({ err: error }, 'open streams could not be counted; they will be with the next renewal');
  }
}
