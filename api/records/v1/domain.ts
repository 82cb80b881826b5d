import { createRoute, z } from '@hono/zod-openapi';
import { fullRecordOf, previewOf } from '../../../src/records/preview.ts';
import { notObserved, requireHost } from '../../../src/records/require-host.ts';
import { faults, ok } from '../../openapi/responses.ts';
import { privateJson } from '../../responses/send.ts';
import type { RecordsDoors } from '../route.ts';
import { register } from '../route.ts';
import { asOfParam, domainParam } from './params.ts';
import { FullRecord, Preview, SignIn } from './record-schemas.ts';

const route = createRoute({
  method: 'get',
  path: '/v1/domains/{domain}',
  operationId: 'readDomain',
  tags: ['Domains'],
  summary: 'One domain as it was last observed, or at a time',
  description:
    'A key or a payment reads the full signed record; without either it is a reduced preview, whose receipt commits to that record.',
  request: { params: domainParam, query: z.object({ as_of: asOfParam }) },
  responses: {
    200: ok(z.union([FullRecord, Preview, SignIn]), 'The newest observation, or the newest at the time asked for.'),
    ...faults(),
  },
});

/** One domain: a preview for those who come keyless, the full record for all others. */
export function domainDoor(doors: RecordsDoors): void {
  const { records } = doors.app.store;
  register(doors, 'lookup', route, (c) => {
    const host = requireHost(records, c.req.valid('param').domain);
    const { as_of } = c.req.valid('query');
    const asOf = as_of === undefined ? undefined : as_of - 1;
    const observation = records.observation(host.id, asOf);
    if (observation === null) throw notObserved(host.hostname, asOf, records.firstObservedAt(host.id) ?? undefined);
    return privateJson(c, c.get('lane') === 'keyless' ? previewOf(observation) : fullRecordOf(observation));
  });
}
