import { z } from '@hono/zod-openapi';
import { healthOf, readiness } from '../../../src/operate/metrics/readiness.ts';
import { isoOrNull } from '../../../src/proof/time.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { SIGNING_REASONS } from '../../../src/signing/signing-state.ts';
import { ok } from '../../openapi/responses.ts';
import { sendReadiness } from '../../responses/readiness.ts';
import { operation } from '../route.ts';

const DiskState = z.enum(['full', 'read_only', 'failing']).nullable();

const count = z.int().min(0);
const why = z.string().nullable();
const Health = z
  .object({
    status: z.literal('ok'),
    domains: count.describe('Number of watched hostnames.'),
    last_scan_at: z.iso.datetime().nullable().describe('Time of the latest observation.'),
    event_loop_delay_max_ms: count.describe('The longest block of the event loop in the last minute, in ms.'),
    log_fence: why.describe(
      'Why no observation is signed: this copy of the log is not the newest one. Null while they are.',
    ),
    signing: z
      .object({
        signs: z.boolean(),
        why: z.enum(SIGNING_REASONS).nullable(),
        message: why,
        since: z.iso.datetime().nullable(),
      })
      .describe('Whether this server signs observations, and if not, why, and since when.'),
    clock_fault: why.describe(
      'Why no observation is signed: the clock of this server is wrong. Null while nothing shows that.',
    ),
    disk: DiskState.describe('The first of `disks` that is not null.'),
    disks: z
      .object({ data: DiskState, papers: DiskState, log: DiskState })
      .describe('Why nothing can be written to DATA_DIR, DIST_DIR and LOG_DIR. Null while writes succeed.'),
    write_lock_held_ms: count.describe(
      'How long another process has held the write lock of the database, in ms; 0 while it is free.',
    ),
  })
  .openapi('Health');

const healthSpec = {
  operationId: 'readHealth',
  tags: ['Public'],
  summary: 'Liveness, event loop delay, and age of the latest observation',
  responses: { 200: ok(Health, 'The service is up.') },
};

export const readHealth = (app: AppContext) =>
  operation(healthSpec, async (c) => {
    const { records } = app.store;
    const body: z.infer<typeof Health> = {
      status: 'ok',
      domains: records.counts().watched,
      last_scan_at: isoOrNull(records.lastProbeAt()),
      ...(await healthOf(app, 'records')),
    };
    return c.json(body, 200, { 'Cache-Control': 'no-store' });
  });

const Ready = z
  .object({
    status: z.literal('ready'),
    checks: z.object({
      server: z.literal('ok').describe('In a 503 also `starting` or `stopping`.'),
      database: z.literal('ok').describe('In a 503 also `no_answer`.'),
      papers: z.literal('ok').optional().describe('Where another server signs: in a 503 also `not_pressed`.'),
    }),
  })
  .openapi('Ready');

const readySpec = {
  operationId: 'readReadiness',
  tags: ['Public'],
  summary: 'Whether load balancers should send requests here; 503 while it starts or stops',
  responses: { 200: ok(Ready, 'The service is ready for requests.') },
};

export const readReadiness = (app: AppContext) => operation(readySpec, (c) => sendReadiness(c, readiness(app)));
