import type { Logger } from 'pino';
import { MINUTE } from '../../../src/proof/time.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Fault } from '../../../src/shared/fault.ts';
import { STREAMS_MAX } from '../../../src/shared/limits.ts';
import { newId } from '../../../src/shared/new-id.ts';

/** How long a stream counts without a renewal, and how often its process renews it, in ms. */
const LASTS = MINUTE;
const RENEWED_EVERY = 15_000;
/** `Retry-After` of a rejected stream, in seconds: by then the streams of a crashed process have expired. */
export const RETRY_AFTER = String(LASTS / 1_000);

/**
 * Limits the open streams of each account, and of each address that pays per call, in the database, so that every process
 * shares the limit. Keys without an account are the operator's own and are not counted. Returns what counts a stream, and
 * returns what releases it; it throws `rate_limited`.
 */
export function streamQuota({ store, clock: { now } }: AppContext, logger: Logger) {
  const open = new Map<string, string>();
  let timer: NodeJS.Timeout | undefined;
  const failed = (error: unknown): void =>
    logger.warn({ err: error }, 'open streams could not be counted; they will be with the next renewal');
  const renew = (): void => {
    // The map is read inside the transaction, so that streams which ended meanwhile are not renewed.
    store.database.groupCommit(() => store.records.quotas.renewStreams([...open], now() + LASTS)).catch(failed);
  };

  return async (account: string | null, caller: string): Promise<() => void> => {
    const [holder, most, whose] =
      account === null
        ? [`address:${caller}`, STREAMS_MAX.address, 'this address']
        : [`account:${account}`, STREAMS_MAX.account, 'this account'];
    const id = newId();
    // Rejected callers never take the write lock.
    const isOpen =
      store.records.quotas.openStreams(holder, now(), LASTS) < most &&
      (await store.database.groupCommit(() =>
        store.records.quotas.openStream({ id, holder }, now, { most, lasts: LASTS }),
      ));
    if (!isOpen) {
      throw new Fault('rate_limited', `${whose} has ${most} streams open, which is the limit; close one first`);
    }
    open.set(id, holder);
    timer ??= setInterval(renew, RENEWED_EVERY).unref();
    return () => {
      if (!open.delete(id)) return;
      if (open.size === 0) {
        clearInterval(timer);
        timer = undefined;
      }
      // A stream that is not released here expires.
      store.database.groupCommit(() => store.records.quotas.endStream(id)).catch(failed);
    };
  };
}
