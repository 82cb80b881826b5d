import { createRoute, z } from '@hono/zod-openapi';
import { enrich } from '../../../src/app/enrich.ts';
import { proberOf } from '../../../src/net/prober.ts';
import { jsonBody, limitBody } from '../../middleware/json-body.ts';
import { body, faults } from '../../openapi/responses.ts';
import type { RecordsDoors } from '../route.ts';
import { register } from '../route.ts';
import { FullRecord } from '../v1/record-schemas.ts';

/** Hostnames in one request. */
const MOST = 500;

/** What a line of the answer is. */
const EnrichedLine = z
  .union([
    FullRecord,
    z
      .object({
        domain: z.string().openapi({ description: 'As it was asked for.' }),
        error: z.string(),
        message: z.string(),
      })
      .openapi('EnrichFault', { description: 'Why there is no record of this hostname.' }),
  ])
  .openapi('EnrichedLine', { description: 'One line of the answer: every line is a document of this form.' });

const route = createRoute({
  method: 'post',
  path: '/v1/enrich-batch',
  operationId: 'enrichBatch',
  tags: ['Operator'],
  summary: 'Look at hostnames now, and stream their records',
  description:
    'Each hostname under watch is looked at, due or not; its observation is signed and kept like any other. One line of JSON each, in the order in which the looks end: the full record, or `{domain, error, message}`. Each name once; who hangs up stops it.',
  middleware: [limitBody, jsonBody()],
  request: { body: body(z.object({ domains: z.array(z.string()).min(1).max(MOST) }).openapi('EnrichBatch')) },
  responses: {
    200: {
      description: 'One line for each hostname.',
      content: { 'application/x-ndjson': { schema: EnrichedLine } },
    },
    ...faults(413, 415),
  },
});

/** Records of hostnames as they are this very moment, for operators. */
export function enrichBatchDoor(doors: RecordsDoors): void {
  const { app, logger } = doors;
  register(doors, 'operator', route, (c) => {
    const { domains } = c.req.valid('json');
    const owner = `key:${c.get('key')?.id}`;
    // Of this request alone: its end ends what still waits.
    const prober = proberOf(app.settings, app.now);
    const batch = enrich(app, domains, prober, owner);
    const request_id = c.get('requestId');
    const lines = new ReadableStream<Uint8Array>({
      async pull(stream) {
        try {
          const { value, done } = await batch.next();
          if (done !== true) return stream.enqueue(Buffer.from(`${JSON.stringify(value)}\n`));
          stream.close();
        } catch (error) {
          logger.error({ request_id, err: error }, 'a batch broke off');
          stream.error(error);
        }
        prober.close();
      },
      async cancel() {
        prober.close();
        await batch.return(undefined);
      },
    });
    return c.body(lines, 200, {
      'Content-Type': 'application/x-ndjson',
      'Cache-Control': 'private, no-store',
      'X-Content-Type-Options': 'nosniff',
      // A proxy that gathers what is sent would hold lines back.
      'X-Accel-Buffering': 'no',
    });
  });
}
