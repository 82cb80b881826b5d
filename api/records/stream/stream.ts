import { z } from '@hono/zod-openapi';
import type { Logger } from 'pino';
import { MINUTE } from '../../../src/proof/time.ts';
import { limitsOf } from '../../../src/records/plans.ts';
import { requireHost } from '../../../src/records/require-host.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Fault } from '../../../src/shared/fault.ts';
import { STREAMS_ADDRESS } from '../../../src/shared/limits.ts';
import { newId } from '../../../src/shared/new-id.ts';
import { callerOf, proxyList } from '../../middleware/caller.ts';
import { setHeader } from '../../responses/headers.ts';
import { operation } from '../route.ts';
import { assertReached } from '../v1/changes.ts';
import { domainFilter, rawParam, typeParam } from '../v1/params.ts';
import type { ChangeFeed } from './feed.ts';

/** How long a dropped listener has to read the final event, in ms. */
const GRACE = 5_000;

/** The number of a change, or 0 for the start. */
const seqText = z
  .string()
  .regex(/^\d{1,15}$/, 'must be the number of a change, in digits; 0 starts at the first change')
  .transform(Number)
  .optional();

const spec = {
  operationId: 'streamChanges',
  tags: ['Changes'],
  summary: 'Changes as they happen, as Server-Sent Events',
  description: [
    'Each event carries a change as its `data` and the change’s `seq` as its `id`. A comment every 15 seconds keeps the connection alive.',
    'Without a number, the stream starts with the next change. `Last-Event-ID`, which EventSource sends by itself, takes precedence over `since_seq`; every change after that number is delivered exactly once. A number ahead of the newest change is 409 `ahead_of_stream`, which names the `newest`: the service was restored from a backup since, or the number is not one of its changes.',
    `An account may have as many open streams as its plan has, an address that pays per call ${STREAMS_ADDRESS}; more are rejected with 429.`,
    'A final event `end` gives the `reason`: the listener reads too slowly (`too_slow`), the stream is an hour old (`time_is_up`), or the server is stopping (`stopping`). Reconnect with `Last-Event-ID`. Opening a stream costs one unit.',
  ].join('\n\n'),
  request: {
    headers: z.object({
      'last-event-id': seqText.openapi({ type: 'string', description: 'The last change that was received.' }),
    }),
    query: z.object({
      domain: domainFilter,
      type: typeParam,
      raw: rawParam,
      since_seq: seqText.openapi({
        type: 'integer',
        minimum: 0,
        description: 'The last change that was received; the stream starts with the next one.',
        example: 0,
      }),
    }),
  },
  responses: {
    200: {
      description: 'Events, until the connection closes.',
      content: { 'text/event-stream': { schema: z.string() } },
    },
  },
};

export const streamChanges = (app: AppContext, feed: ChangeFeed, logger: Logger) => {
  const { records } = app.store;
  const proxies = proxyList(app.settings.trustedProxies);
  const countStream = streamQuota(app, logger);
  return operation(spec, async (c) => {
    const { domain, type: signal, raw: rotating, since_seq } = c.req.valid('query');
    const host = domain === undefined ? undefined : requireHost(records, domain);
    const last = c.req.valid('header')['last-event-id'];
    const newest = feed.newest();
    const after = last ?? since_seq ?? newest;
    const field = last === undefined ? 'since_seq' : 'last-event-id';
    assertReached(app, { field, position: after, newest });
    const headers = {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'private, no-store',
      'X-Content-Type-Options': 'nosniff',
      // Keeps proxies from buffering events.
      'X-Accel-Buffering': 'no',
    };
    if (c.req.method === 'HEAD') return c.body(null, 200, headers);
    const { outgoing } = c.env;
    const key = c.get('key');
    const isCounted = key === null || key.account !== null;
    const release = isCounted
      ? await countStream(key?.account ?? null, callerOf(c.env, proxies)).catch((error: unknown) => {
          if (error instanceof Fault && error.code === 'rate_limited') setHeader(c, 'Retry-After', RETRY_AFTER);
          throw error;
        })
      : null;
    // However the stream ends, its connection closes.
    if (release !== null) {
      if (outgoing.destroyed) release();
      else outgoing.once('close', release);
    }
    const listener = feed.listen({ host, signal, rotating }, after, () => {
      setTimeout(() => outgoing.destroy(), GRACE).unref();
    });
    return c.body(listener.body(), 200, headers);
  });
};

function streamsOf(app: AppContext, id: string): number {
  const account = app.store.records.accounts.find(id);
  return account === null ? 0 : limitsOf(app, account).limits.streams;
}

/** How long a stream counts without a renewal, and how often its process renews it, in ms. */
const LASTS = MINUTE;
const RENEWED_EVERY = 15_000;
/** `Retry-After` of a rejected stream, in seconds: by then the streams of a crashed process have expired. */
export const RETRY_AFTER = String(LASTS / 1_000);

/**
 * Limits the open streams of each account, and of each address that pays per call, in the database, so that every process
 * shares the limit. Keys without an account are the operator's own and are not counted. Returns a function that counts
 * a stream and returns a function that releases it; it throws `rate_limited`.
 */
export function streamQuota(app: AppContext, logger: Logger) {
  const { store } = app;
  const { now } = app.clock;
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
        ? [`address:${caller}`, STREAMS_ADDRESS, 'this address']
        : [`account:${account}`, streamsOf(app, account), 'this account'];
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
