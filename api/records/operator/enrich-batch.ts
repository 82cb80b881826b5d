import { z } from '@hono/zod-openapi';
import type { Logger } from 'pino';
import { enrich } from '../../../src/records/jobs/local-queue.ts';
import { proberOf } from '../../../src/records/probe/prober.ts';
import type { AppContext } from '../../../src/server/context.ts';

import { body } from '../../openapi/responses.ts';
import { operation } from '../route.ts';
import { FullRecord } from '../v1/record-schemas.ts';

const DOMAINS_MAX = 500;

const EnrichedLine = z
  .union([
    FullRecord,
    z
      .object({
        domain: z.string().describe('As requested.'),
        error: z.string(),
        message: z.string(),
      })
      .openapi('EnrichFault', { description: 'Why there is no record of this hostname.' }),
  ])
  .openapi('EnrichedLine', { description: 'One line of the response; each line is a document of this form.' });

const spec = {
  operationId: 'enrichBatch',
  tags: ['Operator'],
  summary: 'Probe hostnames now and stream their records',
  description:
    'Every watched hostname is probed, due or not, and its observation is signed and kept like any other. The response has one line of JSON per hostname, in the order in which probes finish: the full record, or `{domain, error, message}`. Each hostname is probed once; disconnecting stops the batch.',
  request: { body: body(z.object({ domains: z.array(z.string()).min(1).max(DOMAINS_MAX) }).openapi('EnrichBatch')) },
  responses: {
    200: {
      description: 'One line per hostname.',
      content: { 'application/x-ndjson': { schema: EnrichedLine } },
    },
  },
};

export const enrichBatch = (app: AppContext, logger: Logger) =>
  operation(spec, (c) => {
    const { domains } = c.req.valid('json');
    const owner = `key:${c.get('key')?.id}`;
    // One prober per request, so that closing it stops what is still queued.
    const prober = proberOf(app.settings, app.clock.now);
    const batch = enrich(app, domains, prober, owner);
    const request_id = c.get('requestId');
    const lines = new ReadableStream<Uint8Array>({
      async pull(stream) {
        try {
          const { value, done } = await batch.next();
          if (done !== true) return stream.enqueue(Buffer.from(`${JSON.stringify(value)}\n`));
          stream.close();
        } catch (error) {
          logger.error({ request_id, err: error }, 'a batch failed');
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
      // Keeps proxies from buffering the lines.
      'X-Accel-Buffering': 'no',
    });
  });
