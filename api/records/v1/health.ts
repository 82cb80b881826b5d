import { z } from '@hono/zod-openapi';
import { eventLoop } from '../../../src/app/event-loop.ts';
import type { Store } from '../../../src/store/store.ts';
import { faults, ok } from '../../openapi/responses.ts';
import { operation } from '../route.ts';

const Health = z
  .object({
    status: z.literal('ok'),
    domains: z.int().min(0).openapi({ description: 'Number of watched hostnames.' }),
    last_scan_at: z.iso.datetime().nullable().openapi({ description: 'Time of the latest observation.' }),
    event_loop_delay_max_ms: z
      .int()
      .min(0)
      .openapi({ description: 'The longest block of the event loop in the last minute, in ms.' }),
    log_fence: z.string().nullable().openapi({
      description: 'Why no observation is signed: this copy of the log is not the newest one. Null while they are.',
    }),
    disk: z.enum(['full', 'read_only', 'failing']).nullable().openapi({
      description: 'Why nothing can be written: what the disk said of the last write. Null while writes succeed.',
    }),
    write_lock_held_ms: z.int().min(0).openapi({
      description: 'How long another process has held the write lock of the database, in ms; 0 while it is free.',
    }),
  })
  .openapi('Health');

const spec = {
  operationId: 'readHealth',
  tags: ['Public'],
  summary: 'Liveness, event loop delay, and age of the latest observation',
  responses: { 200: ok(Health, 'The service is up.'), ...faults() },
};

export const readHealth = ({ records, log, lock, diskFault }: Pick<Store, 'records' | 'log' | 'lock' | 'diskFault'>) =>
  operation(spec, (c) => {
    const at = records.lastProbeAt();
    const body: z.infer<typeof Health> = {
      status: 'ok',
      domains: records.counts().watched,
      last_scan_at: at === null ? null : new Date(at).toISOString(),
      event_loop_delay_max_ms: eventLoop.worst(),
      log_fence: log.fence('records'),
      disk: diskFault(),
      write_lock_held_ms: Math.round(lock.heldFor()),
    };
    return c.json(body, 200, { 'Cache-Control': 'no-store' });
  });
