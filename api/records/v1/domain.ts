import { z } from '@hono/zod-openapi';
import type { AppContext } from '../../../src/app/context.ts';
import { asOfEnd } from '../../../src/records/as-of.ts';
import { fullRecordOf, previewOf } from '../../../src/records/preview.ts';
import { notObserved, requireHost } from '../../../src/records/require-host.ts';
import { faults, ok } from '../../openapi/responses.ts';
import { offerPayment } from '../lanes/payable.ts';
import { operation } from '../route.ts';
import { asOfParam, domainParam, payParam, preferHeader } from './params.ts';
import { FullRecord, Preview, SignIn } from './record-schemas.ts';

const spec = {
  operationId: 'readDomain',
  tags: ['Domains'],
  summary: 'One domain as of its latest observation, or as of a given time',
  description:
    'With a key or a payment the response is the full signed record. Without either it is a reduced preview, whose receipt commits to that record, and which carries an offer where payments are accepted; the public page `/t/{domain}` has the same preview as JSON, and the throttle guards this lane, not the preview. `pay=1` or `Prefer: payment` asks for the price (402) instead of the preview, so that x402 clients buy the record by themselves; such a request does not count towards the limits of the keyless lane.',
  request: { params: domainParam, query: z.object({ as_of: asOfParam, pay: payParam }), headers: preferHeader },
  responses: {
    200: ok(z.union([FullRecord, Preview, SignIn]), 'The latest observation, or the latest as of the given time.'),
    ...faults(),
  },
};

export const readDomain = ({ store: { records }, settings, now }: Pick<AppContext, 'store' | 'settings' | 'now'>) =>
  operation(spec, (c) => {
    const host = requireHost(records, c.req.valid('param').domain);
    const { as_of } = c.req.valid('query');
    const asOf = as_of === undefined ? undefined : asOfEnd(as_of.span, as_of.text, now());
    const observation = records.observation(host.id, asOf);
    if (observation === null) throw notObserved(host.hostname, asOf, records.firstObservedAt(host.id) ?? undefined);
    if (c.get('lane') !== 'keyless') return fullRecordOf(observation);
    const preview = previewOf(observation);
    return { ...preview, held_back: { ...preview.held_back, ...offerPayment(c, settings) } };
  });
