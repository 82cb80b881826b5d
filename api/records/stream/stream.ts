import { createRoute, z } from '@hono/zod-openapi';
import { Fault } from '../../../src/fault.ts';
import { STREAMS_MAX } from '../../../src/limits.ts';
import { requireHost } from '../../../src/records/require-host.ts';
import { callerOf, proxyList } from '../../middleware/caller.ts';
import { faults } from '../../openapi/responses.ts';
import { setHeader } from '../../responses/headers.ts';
import type { RecordsDoors } from '../route.ts';
import { register } from '../route.ts';
import { domainFilter, typeParam } from '../v1/params.ts';
import type { ChangeFeed } from './feed.ts';
import { RETRY_AFTER, StreamQuota } from './quota.ts';

/** How long somebody who was dropped may take to read the last word, in ms. */
const GRACE = 5_000;

/** A change's number, or 0 for the time before the first. */
const seqText = z
  .string()
  .regex(/^\d{1,15}$/, 'must be the number of a change: digits alone, 0 for all from the first on')
  .transform(Number)
  .optional();

const route = createRoute({
  method: 'get',
  path: '/v1/stream',
  operationId: 'streamChanges',
  tags: ['Changes'],
  summary: 'The change wire as it happens, as Server-Sent Events',
  description: [
    'Each event has the change’s `seq` as its `id` and a change as its `data`. Every 15 seconds without one there is a comment.',
    'Without a number the stream begins with what happens next. `Last-Event-ID`, which EventSource sends by itself, goes before `since_seq`; nothing after that number is missed or told twice.',
    `An account may have ${STREAMS_MAX.account} streams open at a time, an address that pays by the call ${STREAMS_MAX.address}; one more is 429.`,
    'An event `end` with a `reason` closes a stream whose listener reads too slowly (`too_slow`), that is an hour old (`time_is_up`), or whose server stops (`stopping`): come back with `Last-Event-ID`. Opening is one unit.',
  ].join('\n\n'),
  request: {
    headers: z.object({
      'last-event-id': seqText.openapi({ type: 'string', description: 'The last change that was read.' }),
    }),
    query: z.object({
      domain: domainFilter,
      type: typeParam,
      since_seq: seqText.openapi({
        type: 'integer',
        minimum: 0,
        description: 'The last change that was read; the stream begins with the next one.',
        example: 0,
      }),
    }),
  },
  responses: {
    200: {
      description: 'Events, for as long as the connection is kept.',
      content: { 'text/event-stream': { schema: z.string() } },
    },
    ...faults(),
  },
});

/** The change wire as a stream. */
export function streamDoor(doors: RecordsDoors, feed: ChangeFeed): void {
  const { settings, store } = doors.app;
  const { records } = store;
  const proxies = proxyList(settings.trustedProxies);
  const quota = new StreamQuota(doors.app, doors.logger);
  register(doors, 'read', route, async (c) => {
    const { domain, type: signal, since_seq } = c.req.valid('query');
    const host = domain === undefined ? undefined : requireHost(records, domain);
    const after = c.req.valid('header')['last-event-id'] ?? since_seq ?? feed.newest();
    const headers = {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'private, no-store',
      'X-Content-Type-Options': 'nosniff',
      // A proxy in front is not to gather events up.
      'X-Accel-Buffering': 'no',
    };
    if (c.req.method === 'HEAD') return c.body(null, 200, headers);
    const { outgoing } = c.env;
    const key = c.get('key');
    const isCounted = key === null || key.account !== null;
    const ended = isCounted
      ? await quota
          .take({ account: key?.account ?? null, caller: callerOf(c.env, proxies) })
          .catch((error: unknown) => {
            if (error instanceof Fault && error.code === 'rate_limited') setHeader(c, 'Retry-After', RETRY_AFTER);
            throw error;
          })
      : null;
    // However it ends, its connection does.
    if (ended !== null) {
      if (outgoing.destroyed) ended();
      else outgoing.once('close', ended);
    }
    const listener = feed.listen({ host, signal }, after, () => {
      setTimeout(() => outgoing.destroy(), GRACE).unref();
    });
    return c.body(listener.body(), 200, headers);
  });
}
