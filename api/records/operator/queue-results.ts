import { z } from '@hono/zod-openapi';
import { bodyLimit } from 'hono/body-limit';
import type { AppContext } from '../../../src/app/context.ts';
import { Fault } from '../../../src/fault.ts';
import { parseProbe } from '../../../src/records/probe-schema.ts';
import type { ProbeOutcome } from '../../../src/records/scan-queue.ts';
import type { Probe } from '../../../src/records/signal.ts';
import { jsonBody } from '../../middleware/json-body.ts';
import { body, faults, ok } from '../../openapi/responses.ts';
import { operation } from '../route.ts';
import { queueOf, requireOwnLease } from './queue.ts';

/** The largest body, in bytes. It fits one probe with as many and as long values as are accepted. */
const BODY_MAX = 8 * 1024 * 1024;
/** Probes in one request. */
const PROBES_MAX = 500;
/** Members and elements in one request: enough for as many probes of busy hosts. */
const VALUES_MAX = 500_000;

const limited = bodyLimit({
  maxSize: BODY_MAX,
  onError: () => {
    throw new Fault('too_large', `the body is larger than ${BODY_MAX} bytes (8 MiB); submit fewer probes at a time`);
  },
});

const Result = z
  .object({
    domain: z.string(),
    outcome: z.enum(['recorded', 'lost', 'refused']).openapi({
      description:
        '`lost`: another scanner took it, it was submitted before, or it is no longer watched. `refused`: the probe is invalid; `message` says why.',
    }),
    seq: z.int().optional().openapi({ description: 'Number of the observation.' }),
    changes: z.array(z.string()).optional().openapi({ description: 'The changes, one line each.' }),
    message: z.string().optional(),
  })
  .openapi('LookResult');

const spec = {
  operationId: 'handInLooks',
  tags: ['Queue'],
  summary: 'Submit the probes made under a lease',
  description:
    'Each probe has its own outcome, in request order. Probes that are submitted again are `lost`; nothing is recorded twice.',
  middleware: [limited, jsonBody({ valuesMax: VALUES_MAX, judgesZeros: true })],
  request: {
    params: z.object({ lease: z.string().max(64).openapi({ description: 'The id of the lease.' }) }),
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
    ...faults(413, 415),
  },
};

export const submitResults = (app: AppContext) =>
  operation(spec, async (c) => {
    const { lease } = c.req.valid('param');
    requireOwnLease(app.store, c, lease);
    const read = c.req.valid('json').looks.map(readProbe);
    const probes = read.filter((one): one is Probe => !('outcome' in one));
    const entered = (await queueOf(app, c).submit(lease, probes)).values();
    const results = read.map((one) => resultOf('outcome' in one ? one : (entered.next().value as ProbeOutcome)));
    return { results };
  });

/** The probe, or why it is invalid. */
function readProbe(json: { hostname: string }): Probe | ProbeOutcome {
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
