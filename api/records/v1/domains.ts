import { z } from '@hono/zod-openapi';
import { fullRecordOf, previewOf } from '../../../src/proof/records/preview.ts';
import { readsOf } from '../../../src/records/archive/reads.ts';
import { asOfEnd, notObserved, requireHost } from '../../../src/records/require-host.ts';
import { catalogRow } from '../../../src/records/wire-rows.ts';
import type { AppContext } from '../../../src/server/context.ts';
import type { Store } from '../../../src/store/store.ts';
import { ok } from '../../openapi/responses.ts';
import { cursorOf, cursorParam, limitParam, pageOf, readCursor } from '../../responses/paging.ts';
import { offerPayment } from '../lanes/menu.ts';
import { listOf } from '../list.ts';
import { operation } from '../route.ts';
import { asOfParam, domainParam, payParam, preferHeader, wordsParam } from './params.ts';
import { DomainName, FullRecord, Preview, SignIn } from './record-schemas.ts';

const IdCursor = z.tuple([z.int().min(0)]);
const NameCursor = z.tuple([z.string().max(253)]);

/** Matches are counted up to this many: counting millions would block every other request. */
export const COUNT_MAX = 10_000;

export const Catalog = listOf(
  'Catalog',
  z
    .object({
      domain: DomainName,
      unicode: z.string(),
      registrable_domain: z.string().nullable(),
      state: z.enum(['watched', 'paused']),
      added_at: z.iso.datetime(),
      observed_at: z.iso.datetime().nullable().describe('When it was last observed.'),
      seq: z.int().min(1).nullable().describe('Number of the latest observation.'),
    })
    .openapi('CatalogRow'),
  {
    total_is: z.enum(['exact', 'at_least']).openapi({
      description: `With \`q\`, matches are counted up to ${COUNT_MAX}; \`at_least\` means that there may be more.`,
    }),
  },
);

const listSpec = {
  operationId: 'listDomains',
  tags: ['Domains'],
  summary: 'The catalog: every hostname under watch',
  request: {
    query: z.object({
      q: wordsParam.optional().openapi({
        description: 'Only hostnames in which each word is the start of a label; 1 to 253 characters.',
        example: 'exam',
      }),
      limit: limitParam(100, 1_000),
      cursor: cursorParam,
    }),
  },
  responses: { 200: ok(Catalog, 'Sorted by name; with `q`, in the order in which they were added.') },
};

export const listDomains = ({ records }: Store) =>
  operation(listSpec, (c) => {
    const { q, limit, cursor } = c.req.valid('query');
    if (q !== undefined) {
      const [after] = readCursor(IdCursor, cursor);
      const { rows, next } = pageOf(records.search(q, limit + 1, after), limit, ({ id }) => cursorOf([id]));
      const total = records.searchCount(q, COUNT_MAX);
      const total_is = total < COUNT_MAX ? ('exact' as const) : ('at_least' as const);
      return { total_is, items: rows.map(catalogRow), total, next_cursor: next };
    }
    const [after = ''] = readCursor(NameCursor, cursor);
    const { rows, next } = pageOf(records.list(after, limit + 1), limit, ({ hostname }) => cursorOf([hostname]));
    const { watched, paused } = records.counts();
    return { total_is: 'exact' as const, items: rows.map(catalogRow), total: watched + paused, next_cursor: next };
  });

const readSpec = {
  operationId: 'readDomain',
  tags: ['Domains'],
  summary: 'One domain as of its latest observation, or as of a given time',
  description:
    'With a key or a payment the response is the full signed record. Without either it is a reduced preview, whose receipt commits to that record, and which carries an offer where payments are accepted; the public page `/t/{domain}` has the same preview as JSON, and the throttle guards this lane, not the preview. `pay=1` or `Prefer: payment` asks for the price (402) instead of the preview, so that x402 clients buy the record by themselves; such a request does not count towards the limits of the keyless lane.',
  request: { params: domainParam, query: z.object({ as_of: asOfParam, pay: payParam }), headers: preferHeader },
  responses: {
    200: ok(z.union([FullRecord, Preview, SignIn]), 'The latest observation, or the latest as of the given time.'),
  },
};

export const readDomain = (app: AppContext) => {
  const {
    store: { records },
    settings,
    clock: { now },
  } = app;
  const observations = readsOf(app);
  return operation(readSpec, async (c) => {
    const host = requireHost(records, c.req.valid('param').domain);
    const { as_of } = c.req.valid('query');
    const asOf = as_of === undefined ? undefined : asOfEnd(as_of.span, as_of.text, now());
    const observation = await observations.asOf(host, asOf);
    if (observation === null) throw notObserved(host.hostname, asOf, records.firstObservedAt(host.id) ?? undefined);
    if (c.get('lane') !== 'keyless') return fullRecordOf(observation);
    const preview = previewOf(observation);
    return { ...preview, held_back: { ...preview.held_back, ...offerPayment(c, settings) } };
  });
};
