import { z } from '@hono/zod-openapi';
import type { Readiness } from '../../../src/app/readiness.ts';
import { faults, ok } from '../../openapi/responses.ts';
import { sendReadiness } from '../../responses/readiness.ts';
import { operation } from '../route.ts';

const Ready = z
  .object({
    status: z.literal('ready'),
    checks: z.object({
      server: z.literal('ok').openapi({ description: 'In a 503 also `starting` or `stopping`.' }),
      database: z.literal('ok').openapi({ description: 'In a 503 also `no_answer`.' }),
      papers: z.literal('ok').optional().openapi({
        description: 'Where another server signs: in a 503 also `not_pressed`.',
      }),
    }),
  })
  .openapi('Ready');

const spec = {
  operationId: 'readReadiness',
  tags: ['Public'],
  summary: 'Whether load balancers should send requests here; 503 while it starts or stops',
  responses: { 200: ok(Ready, 'The service is ready for requests.'), ...faults() },
};

export const readReadiness = (readiness: Readiness) => operation(spec, (c) => sendReadiness(c, readiness.report()));
