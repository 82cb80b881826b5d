import { createRoute, z } from '@hono/zod-openapi';
import { bodyLimit } from 'hono/body-limit';
import { Fault } from '../../../src/fault.ts';
import { parseProbe } from '../../../src/records/probe-schema.ts';
import type { ProbeOutcome } from '../../../src/records/scan-queue.ts';
import type { Probe } from '../../../src/records/signal.ts';
import { jsonBody } from '../../middleware/json-body.ts';
import { body, faults, ok } from '../../openapi/responses.ts';
import { privateJson } from '../../responses/send.ts';
import type { RecordsDoors } from '../route.ts';
import { register } from '../route.ts';
import { needOwn, queueOf } from './queue.ts';

/** The largest body, in bytes: one look of a host with as many and as long values as are taken fits. */
const BODY_MAX = 8 * 1024 * 1024;
/** Looks in one request. */
const MOST = 500;
/** Members and elements in one request: that many looks of busy hosts. */
const VALUES_MAX = 500_000;

const limited = bodyLimit({
  maxSize: BODY_MAX,
  onError: () => {
    throw new Fault('too_large', `the body is larger than ${BODY_MAX} bytes (8 MiB); hand in fewer looks at a time`);
  },
});

const Result = z
  .object({
    domain: z.string(),
    outcome: z.enum(['recorded', 'lost', 'refused']).openapi({
      description:
        '`lost`: another scanner took it, it was handed in before, or nobody watches it any more. `refused`: the look is not one; `message` says why.',
    }),
    seq: z.int().optional().openapi({ description: 'The number of the observation.' }),
    changes: z.array(z.string()).optional().openapi({ description: 'What changed, one line each.' }),
    message: z.string().optional(),
  })
  .openapi('LookResult');

const route = createRoute({
  method: 'post',
  path: '/v1/queue/{lease}/results',
  operationId: 'handInLooks',
  tags: ['Queue'],
  summary: 'Hand in looks made under a lease',
  description:
    'Each look has its own outcome, in the order sent. The same looks sent again are `lost`: nothing is entered twice.',
  middleware: [limited, jsonBody({ valuesMax: VALUES_MAX })],
  request: {
    params: z.object({ lease: z.string().max(64).openapi({ description: 'The name that the lease was given with.' }) }),
    body: body(
      z
        .object({
          looks: z
            .array(
              z.looseObject({ hostname: z.string() }).openapi('Look', {
                description:
                  'One look: `hostname`, `at` (ms), `signals` (by type: `status`, `ttl`, `values`, `transport`, `rtt_ms`, `flags {aa, ad, tc}`), `certificate`, `certificate_status`, `wildcard`.',
              }),
            )
            .max(MOST),
        })
        .openapi('Looks'),
    ),
  },
  responses: {
    200: ok(z.object({ results: z.array(Result) }).openapi('LookResults'), 'What became of each.'),
    ...faults(413, 415),
  },
});

/** Where scanners elsewhere hand in what they saw. */
export function queueResultsDoor(doors: RecordsDoors): void {
  register(doors, 'queue', route, async (c) => {
    const { lease } = c.req.valid('param');
    needOwn(doors, c, lease);
    const queue = queueOf(doors, c);
    const read = c.req.valid('json').looks.map(readLook);
    const looks = read.filter((one): one is Probe => !('outcome' in one));
    const entered = (await queue.submit(lease, looks)).values();
    const results = read.map((one) => resultOf('outcome' in one ? one : (entered.next().value as ProbeOutcome)));
    return privateJson(c, { results });
  });
}

/** A look, or why it is none. */
function readLook(json: { hostname: string }): Probe | ProbeOutcome {
  try {
    return parseProbe(json);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { hostname: json.hostname.slice(0, 253), outcome: 'refused', message: error.message };
  }
}

function resultOf({ hostname, ...outcome }: ProbeOutcome): z.infer<typeof Result> {
  return { domain: hostname, ...outcome };
}
