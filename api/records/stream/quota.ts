import type { Logger } from 'pino';
import type { AppContext } from '../../../src/app/context.ts';
import { newId } from '../../../src/app/context.ts';
import { Fault } from '../../../src/fault.ts';
import { STREAMS_MAX } from '../../../src/limits.ts';
import { MINUTE } from '../../../src/time.ts';

/** For how long a stream counts when its process says nothing more of it, and how often that is said, in ms. */
const LASTS = MINUTE;
const RENEWED_EVERY = 15_000;
/** When to try again after one too many, in seconds: by then those of a process that died have ended. */
export const RETRY_AFTER = String(LASTS / 1_000);

/**
 * How many streams each account has open, and each address that pays by the call;
 * counted in the database, for every process on it. Keys of no account are the
 * operator's own, and not counted.
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

  /** Counts a stream of an account, or without one of an address; gives what ends it. Throws `rate_limited`. */
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
      throw new Fault(
        'rate_limited',
        `${whose} has ${most} streams open, which is the most; end one, then open another`,
      );
    }
    this.#open.set(id, holder);
    this.#timer ??= setInterval(() => this.#renew(), RENEWED_EVERY).unref();
    return () => this.#end(id);
  }

  #end(id: string): void {
    if (!this.#open.delete(id)) return;
    if (this.#open.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    // One that is not ended here ends by itself.
    this.#app.store
      .groupCommit(() => this.#app.store.quotas.endStream(id))
      .catch((error: unknown) => this.#failed(error));
  }

  #renew(): void {
    const { store, now } = this.#app;
    // Read when it is done: what ended meanwhile is not counted again.
    store
      .groupCommit(() => store.quotas.renewStreams([...this.#open], now() + LASTS))
      .catch((error: unknown) => this.#failed(error));
  }

  #failed(error: unknown): void {
    this.#logger.warn({ err: error }, 'streams that are open are counted later');
  }
}
