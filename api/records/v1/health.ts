import { createRoute, z } from '@hono/zod-openapi';
import { eventLoop } from '../../../src/app/event-loop.ts';
import { isoOrNull } from '../../../src/time.ts';
import { faults, ok } from '../../openapi/responses.ts';
import type { RecordsDoors } from '../route.ts';
import { register } from '../route.ts';

const Health = z
  .object({
    status: z.literal('ok'),
    domains: z.int().min(0).openapi({ description: 'Hostnames under watch.' }),
    last_scan_at: z.iso.datetime().nullable().openapi({ description: 'When a hostname was last looked at.' }),
    event_loop_delay_max_ms: z
      .int()
      .min(0)
      .openapi({ description: 'The longest that anything kept all callers waiting in the last minute, in ms.' }),
  })
  .openapi('Health');

const route = createRoute({
  method: 'get',
  path: '/health',
  operationId: 'readHealth',
  tags: ['Public'],
  summary: 'Whether the service answers, how soon, and how fresh its looks are',
  security: [{}],
  responses: { 200: ok(Health, 'It answers.'), ...faults() },
});

/** Whether the service answers, for monitors. */
export function healthDoor(doors: RecordsDoors): void {
  const { records } = doors.app.store;
  register(doors, 'public', route, (c) => {
    const at = records.lastProbeAt();
    const last_scan_at = isoOrNull(at);
    const body: z.infer<typeof Health> = {
      status: 'ok',
      domains: records.counts().watched,
      last_scan_at,
      event_loop_delay_max_ms: eventLoop.worst(),
    };
    return c.json(body, 200, { 'Cache-Control': 'no-store' });
  });
}
