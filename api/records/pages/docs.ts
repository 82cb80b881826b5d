import { type Preview, previewOf } from '../../../src/proof/records/preview.ts';
import { REPEATS } from '../../../src/records/meter/checkout.ts';
import { creditsOf, REQUEST_COST } from '../../../src/records/meter/credits.ts';
import { KEYLESS_INTERVAL } from '../../../src/records/meter/keyless.ts';
import { planRows } from '../../../src/records/plans.ts';
import type { RecordsPages } from '../../../src/records/views.ts';
import type { AppContext } from '../../../src/server/context.ts';
import type { Settings } from '../../../src/server/env.ts';
import { ASKS, limitInWords, READS, REFUSED_PAYMENTS } from '../../../src/shared/limits.ts';
import type { Store } from '../../../src/store/store.ts';
import { ResponseCache } from '../../responses/response-cache.ts';
import { type RecordsContext, type RecordsRoute, specOf } from '../route.ts';
import { signalMeanings } from './change-view.ts';
import { docsSamples } from './docs-samples.ts';
import type { PageSender } from './page.ts';

/** The groups of operations, by their OpenAPI tag, in display order. */
const GROUPS: readonly { tag: string; heading: string; lane: string }[] = [
  { tag: 'Public', heading: 'Public', lane: 'Everyone, without a key.' },
  {
    tag: 'Domains',
    heading: 'Domains',
    lane: 'Keyed or paid per call. The lookup of one domain also works keyless, as a preview.',
  },
  { tag: 'Changes', heading: 'Changes', lane: 'Keyed or paid per call.' },
  { tag: 'Lists', heading: 'Lists and search', lane: 'Keyed or paid per call.' },
  { tag: 'Exports', heading: 'Exports', lane: 'Keyed, with a key of an account; not sold per call.' },
  { tag: 'Account', heading: 'Your account', lane: 'Keyed, never metered.' },
  { tag: 'Queue', heading: 'The queue', lane: 'Scanners’ and operators’ keys.' },
  { tag: 'Operator', heading: 'Operators', lane: 'Operators’ keys. 401 without a key, 403 with another one.' },
];

const BY_ADDRESS = [
  {
    what: 'reads of public pages, feeds and endpoints; requests with a key are not counted',
    limit: limitInWords(READS),
  },
  { what: 'lookups of one domain without a key', limit: `1 every ${KEYLESS_INTERVAL / 1000} seconds` },
  { what: 'sign-in links', limit: limitInWords(ASKS) },
  { what: 'rejected payments', limit: limitInWords(REFUSED_PAYMENTS) },
];

const CREDITS_PATH = '/v1/credits';

const SHOWN_DISCLOSURES = 1;

export const docsPage = (app: AppContext, pages: PageSender, routes: () => readonly RecordsRoute[]) => {
  const { store, settings } = app;
  const { records } = store;
  const cache = new ResponseCache();
  // Cached for the current example, which rarely changes.
  let coloured: { of: string; samples: ReturnType<typeof docsSamples> } | null = null;
  const samplesFor = (domain: string) => {
    if (coloured?.of !== domain) coloured = { of: domain, samples: docsSamples(settings.dataOrigin, domain) };
    return coloured.samples;
  };
  return async (c: RecordsContext) => {
    const description =
      'How to read, follow and verify the domain records: lanes, limits, prices, headers, endpoints, receipts.';
    const frame = pages.frame(c, { title: 'Docs · Domain Records', description, path: '/docs' });
    const host = records.list('', 50).find(({ seq }) => seq !== null);
    const example = host?.hostname ?? 'example.com';
    const samples = await samplesFor(example);
    const view = (): RecordsPages['/records/docs'] => {
      const observation = host === undefined ? null : records.observation(host.id);
      return {
        frame,
        example,
        samples,
        tries: [
          ...samples.map(({ path }) => path),
          `/v1/domains/${example}/provenance`,
          '/v1/search?q=192.0.2.1',
          '/v1/tape',
          '/v1',
        ],
        limits: {
          by_address: BY_ADDRESS,
          keyless_daily: settings.keylessDaily,
          keyless_seconds: KEYLESS_INTERVAL / 1000,
          watch_monthly: settings.watchCaps.monthly,
        },
        meanings: signalMeanings(),
        plans: planRows(app),
        credits_per_request: creditsOf(REQUEST_COST),
        paid: paidOf(settings),
        operations: operationsOf(routes()),
        receipt: observation?.receipt ?? null,
        preview: observation === null ? null : shortened(previewOf(observation)),
      };
    };
    // The example is the latest observation of this host.
    const state = `${host?.hostname ?? ''}-${host?.seq ?? 0}-${plansState(store)}`;
    return pages.sendCached(c, '/records/docs', { frame, view }, { cache, name: '/docs', state });
  };
};

/** A text that changes with the plans on sale. */
export function plansState({ records }: Store): string {
  return JSON.stringify(records.plans.list());
}

export function paidOf({ x402 }: Settings): RecordsPages['/records/docs']['paid'] {
  if (x402 === null) return null;
  const { asset, network, prices, rpc } = x402;
  const price = (units: number): string =>
    asset.decimals === null ? `${units.toLocaleString('en')} units` : `$${units / 10 ** asset.decimals}`;
  return {
    network: network.name,
    sells_credits: rpc !== null,
    repeats: REPEATS,
    prices: [...prices]
      .filter(([path]) => path !== CREDITS_PATH || rpc !== null)
      .map(([path, units]) => ({
        path: path === '*' ? 'every other read' : path,
        price: price(units) + (path === CREDITS_PATH ? ' a credit' : ''),
      })),
  };
}

function operationsOf(routes: readonly RecordsRoute[]): RecordsPages['/records/docs']['operations'] {
  const operations = routes.flatMap((route) => {
    const [method, path] = route;
    const spec = specOf(route);
    return spec === undefined ? [] : [{ method, path, summary: spec.summary ?? '', tags: spec.tags ?? [] }];
  });
  return GROUPS.map(({ tag, heading, lane }) => ({
    heading,
    lane,
    rows: operations
      .filter(({ tags }) => tags.includes(tag))
      .map(({ method, path, summary }) => ({ method, path, summary })),
  })).filter(({ rows }) => rows.length > 0);
}

function shortened(preview: Preview): string {
  const { disclosures, receipt } = preview;
  const shown = disclosures
    .slice(0, SHOWN_DISCLOSURES)
    .map((one) => ({ ...one, path: [...one.path.slice(0, 1), '…'] }));
  const text = JSON.stringify(
    { ...preview, disclosures: [...shown, '…'], receipt: `${receipt.split('\n')[0]}\n…` },
    null,
    2,
  );
  // Puts short objects on one line.
  return text.replace(
    /\{\s+("[A-Z_]+": \d+(?:,\s+"[A-Z_]+": \d+)*)\s+\}/g,
    (_, members: string) => `{ ${members.replace(/\s+/g, ' ')} }`,
  );
}
