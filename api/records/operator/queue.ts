import { z } from '@hono/zod-openapi';
import type { Probe } from '../../../src/proof/records/signal.ts';
import { isoOrNull, isoTime } from '../../../src/proof/time.ts';
import { type LocalQueue, localQueue } from '../../../src/records/jobs/local-queue.ts';
import { parseProbe } from '../../../src/records/probe/probe-schema.ts';
import type { ProbeOutcome } from '../../../src/records/probe/scan-queue.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { caught, Fault } from '../../../src/shared/fault.ts';
import type { Store } from '../../../src/store/store.ts';
import { atMost, jsonBody } from '../../middleware/json-body.ts';
import { body, ok } from '../../openapi/responses.ts';
import { operation, type RecordsContext } from '../route.ts';

const LEASE_MAX = 500;

const leaseSpec = {
  operationId: 'leaseHostnames',
  tags: ['Queue'],
  summary: 'Lease hostnames that are due',
  description:
    'Until the lease ends they belong to the caller alone. Hostnames without a result by then are due again.',
  request: { body: body(z.object({ max: z.int().min(1).max(LEASE_MAX) }).openapi('LeaseWish')) },
  responses: {
    200: ok(
      z
        .object({
          lease: z.string().describe('The id to submit results under.'),
          until: z.iso.datetime(),
          hostnames: z.array(z.string()).describe('Spread over DNS operators; empty when nothing is due.'),
        })
        .openapi('Lease'),
      'The lease.',
    ),
  },
};

const endSpec = {
  operationId: 'giveLeaseBack',
  tags: ['Queue'],
  summary: 'End a lease; hostnames without a result are due at once',
  request: { params: z.object({ lease: z.string().max(64).describe('The id of the lease.') }) },
  responses: {
    200: ok(z.object({ given_back: z.int().min(0) }).openapi('GivenBack'), 'How many hostnames are due again.'),
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
          due: z.int().min(0).describe('Due now and not leased.'),
          leased: z.int().min(0),
          next_due_at: time.describe('Null when nothing is watched.'),
          last_scan_at: time.describe('Start time of the latest probe.'),
        })
        .openapi('QueueStats'),
      'The queue.',
    ),
  },
};

export const leaseHostnames = (app: AppContext) =>
  operation(leaseSpec, (c) => {
    const { lease, until, hostnames } = queueOf(app, c).leaseUntil(c.req.valid('json').max);
    return { lease, until: isoTime(until), hostnames };
  });

export const endLease = ({ store, clock: { now } }: AppContext) =>
  operation(endSpec, (c) => {
    const { lease } = c.req.valid('param');
    requireOwnLease(store, c, lease);
    return { given_back: store.records.release(lease, now()) };
  });

export const readQueue = ({ store: { records }, clock: { now } }: AppContext) =>
  operation(statsSpec, () => {
    const { next_due_at, ...counts } = records.stats(now());
    return { ...counts, next_due_at: isoOrNull(next_due_at), last_scan_at: isoOrNull(records.lastProbeAt()) };
  });

/** The queue on behalf of the caller's key. */
export function queueOf(app: AppContext, c: RecordsContext): LocalQueue {
  return localQueue(app, ownerOf(c));
}

/** Throws `not_found` for a lease that belongs to another key. */
function requireOwnLease({ records }: Store, c: RecordsContext, lease: string): void {
  const owner = records.leaseOwner(lease);
  if (owner === null || owner === ownerOf(c)) return;
  throw new Fault('not_found', `your key holds no lease ${lease}; POST /v1/queue/lease takes one`);
}

function ownerOf(c: RecordsContext): string {
  return `key:${c.get('key')?.id}`;
}

/** The largest body, in bytes. It fits one probe with as many and as long values as are accepted. */
const BODY_MAX = 8 * 1024 * 1024;
const PROBES_MAX = 500;
/** Members and elements in one request: enough for as many probes of busy hosts. */
const VALUES_MAX = 500_000;

const Result = z
  .object({
    domain: z.string(),
    outcome: z
      .enum(['recorded', 'lost', 'refused'])
      .describe(
        '`lost`: another scanner took it, it was submitted before, or it is no longer watched. `refused`: the probe is invalid; `message` says why.',
      ),
    seq: z.int().optional().describe('Number of the observation.'),
    changes: z.array(z.string()).optional().describe('The changes, one line each.'),
    message: z.string().optional(),
  })
  .openapi('LookResult');

const resultsSpec = {
  operationId: 'handInLooks',
  tags: ['Queue'],
  summary: 'Submit the probes made under a lease',
  description:
    'Each probe has its own outcome, in request order. Probes that are submitted again are `lost`; nothing is recorded twice.',
  before: [
    atMost(BODY_MAX, '8 MiB', 'body', 'submit fewer probes at a time'),
    jsonBody({ valuesMax: VALUES_MAX, judgesZeros: true }),
  ],
  request: {
    params: z.object({ lease: z.string().max(64).describe('The id of the lease.') }),
    body: body(
      z
        .object({
          looks: z
            .array(
              z.looseObject({ hostname: z.string() }).openapi('Look', {
                description:
                  'One probe: `hostname`, `at` (ms), `signals` (by type: `status`, `ttl`, `values`, `transport`, `rtt_ms`, `flags {aa, ad, tc}`), `certificate`, `certificate_status`, `wildcard`.',
              }),
            )
            .max(PROBES_MAX),
        })
        .openapi('Looks'),
    ),
  },
  responses: {
    200: ok(z.object({ results: z.array(Result) }).openapi('LookResults'), 'The outcome for each probe.'),
  },
};

export const submitResults = (app: AppContext) =>
  operation(resultsSpec, async (c) => {
    const { lease } = c.req.valid('param');
    requireOwnLease(app.store, c, lease);
    const read = c.req.valid('json').looks.map(readProbe);
    const probes = read.filter((one): one is Probe => !('outcome' in one));
    const entered = (await queueOf(app, c).submit(lease, probes)).values();
    const outcomes = read.map((one) => ('outcome' in one ? one : (entered.next().value as ProbeOutcome)));
    return { results: outcomes.map(({ hostname: domain, ...outcome }) => ({ domain, ...outcome })) };
  });

function readProbe(json: { hostname: string }): Probe | ProbeOutcome {
  const probe = caught(Fault, () => parseProbe(json));
  if (!(probe instanceof Fault)) return probe;
  return { hostname: json.hostname.slice(0, 253), outcome: 'refused', message: probe.message };
}
