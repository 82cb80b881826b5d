import { z } from '@hono/zod-openapi';
import type { AppContext } from '../../../src/app/context.ts';
import type { LocalQueue } from '../../../src/app/local-queue.ts';
import { localQueue } from '../../../src/app/local-queue.ts';
import { Fault } from '../../../src/fault.ts';
import type { Store } from '../../../src/store/store.ts';
import { isoOrNull, isoTime } from '../../../src/time.ts';
import { jsonBody, limitBody } from '../../middleware/json-body.ts';
import { body, faults, ok } from '../../openapi/responses.ts';
import type { RecordsContext } from '../context.ts';
import { operation } from '../route.ts';

/** Hostnames in one lease. */
const LEASE_MAX = 500;

const leaseSpec = {
  operationId: 'leaseHostnames',
  tags: ['Queue'],
  summary: 'Lease hostnames that are due',
  description:
    'Until the lease ends they belong to the caller alone. Hostnames without a result by then are due again.',
  middleware: [limitBody, jsonBody()],
  request: { body: body(z.object({ max: z.int().min(1).max(LEASE_MAX) }).openapi('LeaseWish')) },
  responses: {
    200: ok(
      z
        .object({
          lease: z.string().openapi({ description: 'The id to submit results under.' }),
          until: z.iso.datetime(),
          hostnames: z
            .array(z.string())
            .openapi({ description: 'Spread over DNS operators; empty when nothing is due.' }),
        })
        .openapi('Lease'),
      'The lease.',
    ),
    ...faults(413, 415),
  },
};

const endSpec = {
  operationId: 'giveLeaseBack',
  tags: ['Queue'],
  summary: 'End a lease; hostnames without a result are due at once',
  request: {
    params: z.object({ lease: z.string().max(64).openapi({ description: 'The id of the lease.' }) }),
  },
  responses: {
    200: ok(z.object({ given_back: z.int().min(0) }).openapi('GivenBack'), 'How many hostnames are due again.'),
    ...faults(),
  },
};

const time = z.iso.datetime().nullable();
const statsSpec = {
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
          last_scan_at: time.openapi({ description: 'Start time of the latest probe.' }),
        })
        .openapi('QueueStats'),
      'The queue.',
    ),
    ...faults(),
  },
};

export const leaseHostnames = (app: AppContext) =>
  operation(leaseSpec, (c) => {
    const { lease, until, hostnames } = queueOf(app, c).leaseUntil(c.req.valid('json').max);
    return { lease, until: isoTime(until), hostnames };
  });

export const endLease = ({ store, now }: Pick<AppContext, 'store' | 'now'>) =>
  operation(endSpec, (c) => {
    const { lease } = c.req.valid('param');
    requireOwnLease(store, c, lease);
    return { given_back: store.records.release(lease, now()) };
  });

export const readQueue = ({ store: { records }, now }: Pick<AppContext, 'store' | 'now'>) =>
  operation(statsSpec, () => {
    const { next_due_at, ...counts } = records.stats(now());
    return { ...counts, next_due_at: isoOrNull(next_due_at), last_scan_at: isoOrNull(records.lastProbeAt()) };
  });

/** The queue on behalf of the caller's key. */
export function queueOf(app: AppContext, c: RecordsContext): LocalQueue {
  return localQueue(app, ownerOf(c));
}

/** Throws `not_found` for a lease that belongs to another key. */
export function requireOwnLease({ records }: Pick<Store, 'records'>, c: RecordsContext, lease: string): void {
  const owner = records.leaseOwner(lease);
  if (owner === null || owner === ownerOf(c)) return;
  throw new Fault('not_found', `your key holds no lease ${lease}; POST /v1/queue/lease takes one`);
}

function ownerOf(c: RecordsContext): string {
  return `key:${c.get('key')?.id}`;
}
