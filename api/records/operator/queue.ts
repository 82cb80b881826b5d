import { createRoute, z } from '@hono/zod-openapi';
import type { LocalQueue } from '../../../src/app/local-queue.ts';
import { localQueue } from '../../../src/app/local-queue.ts';
import { Fault } from '../../../src/fault.ts';
import { isoOrNull, isoTime } from '../../../src/time.ts';
import { jsonBody, limitBody } from '../../middleware/json-body.ts';
import { body, faults, ok } from '../../openapi/responses.ts';
import { privateJson } from '../../responses/send.ts';
import type { RecordsContext, RecordsDoors } from '../route.ts';
import { register } from '../route.ts';

/** Hostnames in one lease. */
const MOST = 500;

const leaseRoute = createRoute({
  method: 'post',
  path: '/v1/queue/lease',
  operationId: 'leaseHostnames',
  tags: ['Queue'],
  summary: 'Take hostnames that are due',
  description: 'They are the caller’s alone until the lease ends; what has no result by then is due again.',
  middleware: [limitBody, jsonBody()],
  request: { body: body(z.object({ max: z.int().min(1).max(MOST) }).openapi('LeaseWish')) },
  responses: {
    200: ok(
      z
        .object({
          lease: z.string().openapi({ description: 'What results are handed in under.' }),
          until: z.iso.datetime(),
          hostnames: z.array(z.string()).openapi({ description: 'Spread over operators; empty when nothing is due.' }),
        })
        .openapi('Lease'),
      'The lease.',
    ),
    ...faults(413, 415),
  },
});

const giveBackRoute = createRoute({
  method: 'delete',
  path: '/v1/queue/{lease}',
  operationId: 'giveLeaseBack',
  tags: ['Queue'],
  summary: 'End a lease: what has no result is due at once',
  request: {
    params: z.object({ lease: z.string().max(64).openapi({ description: 'The name that the lease was given with.' }) }),
  },
  responses: {
    200: ok(z.object({ given_back: z.int().min(0) }).openapi('GivenBack'), 'How many hostnames are due again.'),
    ...faults(),
  },
});

const time = z.iso.datetime().nullable();
const statsRoute = createRoute({
  method: 'get',
  path: '/v1/queue/stats',
  operationId: 'readQueue',
  tags: ['Queue'],
  summary: 'How many hostnames are watched, due and leased',
  responses: {
    200: ok(
      z
        .object({
          watched: z.int().min(0),
          due: z.int().min(0).openapi({ description: 'Due now and not leased.' }),
          leased: z.int().min(0),
          next_due_at: time.openapi({ description: 'Null when nothing is watched.' }),
          last_scan_at: time.openapi({ description: 'When the newest look was begun.' }),
        })
        .openapi('QueueStats'),
      'The queue.',
    ),
    ...faults(),
  },
});

/** Where scanners elsewhere get their work (design.md, "Records"). */
export function queueDoors(doors: RecordsDoors): void {
  const { store, now } = doors.app;
  register(doors, 'queue', leaseRoute, (c) => {
    const { lease, until, hostnames } = queueOf(doors, c).leaseUntil(c.req.valid('json').max);
    return privateJson(c, { lease, until: iso(until), hostnames });
  });
  register(doors, 'queue', giveBackRoute, (c) => {
    const { lease } = c.req.valid('param');
    needOwn(doors, c, lease);
    return privateJson(c, { given_back: store.records.release(lease, now()) });
  });
  register(doors, 'queue', statsRoute, (c) => {
    const { next_due_at, ...counts } = store.records.stats(now());
    const last = store.records.lastProbeAt();
    const body = { ...counts, next_due_at: isoOrNull(next_due_at), last_scan_at: isoOrNull(last) };
    return privateJson(c, body);
  });
}

/** The queue as the caller's key works it. */
export function queueOf({ app }: RecordsDoors, c: RecordsContext): LocalQueue {
  return localQueue(app, ownerOf(c));
}

/** Throws `not_found` for a lease that another key took: it is nobody else's. */
export function needOwn({ app }: RecordsDoors, c: RecordsContext, lease: string): void {
  const owner = app.store.records.leaseOwner(lease);
  if (owner === null || owner === ownerOf(c)) return;
  throw new Fault('not_found', `there is no lease ${lease} of your key; POST /v1/queue/lease takes one`);
}

function ownerOf(c: RecordsContext): string {
  return `key:${c.get('key')?.id}`;
}

function iso(ms: number): string {
  return isoTime(ms);
}
