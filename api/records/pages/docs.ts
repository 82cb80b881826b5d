import type { Settings } from '../../../src/env.ts';
import { ASKS, limitInWords, READS, REFUSED_PAYMENTS } from '../../../src/limits.ts';
import { REPEATS } from '../../../src/meter/checkout.ts';
import { creditsOf, REQUEST_COST } from '../../../src/meter/credits.ts';
import { KEYLESS_INTERVAL } from '../../../src/meter/keyless.ts';
import type { Preview } from '../../../src/records/preview.ts';
import { previewOf } from '../../../src/records/preview.ts';
import type { DocsRoutes, DocsView } from '../../../src/records/reading-views.ts';
import type { RecordsDoors } from '../route.ts';
import { frameOf } from './frame.ts';
import { keptLists } from './list.ts';
import { openPage, sendKeptPage } from './page.ts';

/** What the tags of routes mean to who reads, in the order in which they are told. */
const SORTS: readonly { tag: string; heading: string; lane: string }[] = [
  { tag: 'Public', heading: 'Public', lane: 'Anybody, without a key.' },
  {
    tag: 'Domains',
    heading: 'Domains',
    lane: 'Keyed or paid per call; the lookup of one domain also keyless, as a preview.',
  },
  { tag: 'Changes', heading: 'Changes', lane: 'Keyed or paid per call.' },
  { tag: 'Lists', heading: 'Lists and search', lane: 'Keyed or paid per call.' },
  { tag: 'Exports', heading: 'Exports', lane: 'Keyed, with a key of an account; never sold by the call.' },
  { tag: 'Account', heading: 'Your account', lane: 'Keyed, never metered.' },
  { tag: 'Queue', heading: 'The queue', lane: 'Keys of scanners and operators.' },
  { tag: 'Operator', heading: 'Operators', lane: 'Keys of operators; without one 401, with another 403.' },
];

/** What is limited by address, whoever calls (spec, "Limits"). */
const BY_ADDRESS = [
  { what: 'reads of public pages, feeds and doors; no request with a key counts', limit: limitInWords(READS) },
  { what: 'lookups of one domain without a key', limit: `1 in ${KEYLESS_INTERVAL / 1000} seconds` },
  { what: 'links to sign in', limit: limitInWords(ASKS) },
  { what: 'payments that buy nothing', limit: limitInWords(REFUSED_PAYMENTS) },
];

/** Where credits are sold. */
const CREDITS_PATH = '/v1/credits';

/** So many of a preview's disclosures are printed. */
const SHOWN_DISCLOSURES = 1;

/** The manual: lanes with their limits and prices as they are set, every header, every door, the note's form. */
export function docsPage(doors: RecordsDoors): void {
  const { store, settings } = doors.app;
  const { records } = store;
  const kept = keptLists();
  openPage(doors, '/docs', (c) => {
    const description =
      'How to read, follow and verify the domain records: lanes, limits, prices, headers, endpoints, receipts.';
    const frame = frameOf(doors.app, c, { title: 'Docs · Domain Records', description, path: '/docs' });
    const host = records.list('', 50).find(({ seq }) => seq !== null);
    const view = (): DocsView => {
      const observation = host === undefined ? null : records.observation(host.id);
      return {
        frame,
        example: host?.hostname ?? 'example.com',
        limits: {
          by_address: BY_ADDRESS,
          keyless_daily: settings.keylessDaily,
          keyless_seconds: KEYLESS_INTERVAL / 1000,
          keyed_daily: settings.keyedDaily,
          keyed_per_minute: settings.keyedPerMinute,
          watch_daily: settings.watchCaps.daily,
          watch_monthly: settings.watchCaps.monthly,
        },
        credits_per_request: creditsOf(REQUEST_COST),
        paid: paidOf(settings),
        routes: doorsOf(doors),
        receipt: observation?.receipt ?? null,
        preview: observation === null ? null : shortened(previewOf(observation)),
      };
    };
    // The example is its newest observation.
    const state = `${host?.hostname ?? ''}-${host?.seq ?? 0}`;
    return sendKeptPage(doors, c, '/records/docs', { frame, view }, { kept, name: '/docs', state });
  });
}

function paidOf({ x402 }: Settings): DocsView['paid'] {
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

/** The doors as the OpenAPI document has them, whichever are wired. */
function doorsOf({ router }: RecordsDoors): DocsRoutes[] {
  const routes = router.openAPIRegistry.definitions.flatMap((one) => (one.type === 'route' ? [one.route] : []));
  return SORTS.map(({ tag, heading, lane }) => ({
    heading,
    lane,
    rows: routes
      .filter(({ tags }) => tags?.includes(tag))
      .map(({ method, path, summary }) => ({ method: method.toUpperCase(), path, summary: summary ?? '' })),
  })).filter(({ rows }) => rows.length > 0);
}

/** A preview as JSON to be read, with fewer disclosures than it has. */
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
  // Short objects on one line.
  return text.replace(
    /\{\s+("[A-Z_]+": \d+(?:,\s+"[A-Z_]+": \d+)*)\s+\}/g,
    (_, members: string) => `{ ${members.replace(/\s+/g, ' ')} }`,
  );
}
