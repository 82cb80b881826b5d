import { z } from '@hono/zod-openapi';
import { fullRecordOf, previewOf } from '../../../src/records/preview.ts';
import { notObserved, requireHost } from '../../../src/records/require-host.ts';
import type { Store } from '../../../src/store/store.ts';
import { faults, ok } from '../../openapi/responses.ts';
import { operation } from '../route.ts';
import { asOfParam, domainParam } from './params.ts';
import { FullRecord, Preview, SignIn } from './record-schemas.ts';

const spec = {
  operationId: 'readDomain',
  tags: ['Domains'],
  summary: 'One domain as of its latest observation, or as of a given time',
  description:
    'With a key or a payment the response is the full signed record. Without either it is a reduced preview, whose receipt commits to that record.',
  request: { params: domainParam, query: z.object({ as_of: asOfParam }) },
  responses: {
    200: ok(z.union([FullRecord, Preview, SignIn]), 'The latest observation, or the latest as of the given time.'),
    ...faults(),
  },
};

export const readDomain = ({ records }: Pick<Store, 'records'>) =>
  operation(spec, (c) => {
    const host = requireHost(records, c.req.valid('param').domain);
    const { as_of } = c.req.valid('query');
    const asOf = as_of === undefined ? undefined : as_of - 1;
    const observation = records.observation(host.id, asOf);
    if (observation === null) throw notObserved(host.hostname, asOf, records.firstObservedAt(host.id) ?? undefined);
    return c.get('lane') === 'keyless' ? previewOf(observation) : fullRecordOf(observation);
  });
