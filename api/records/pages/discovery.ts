import { sitemapShard } from '../../../src/desk/press/feeds/sitemap.ts';
import { MONTHS_VALID, monthLater } from '../../../src/desk/press/feeds/well-known-files.ts';
import { dayAfter, dayOf } from '../../../src/proof/time.ts';
import { recordsLlms, recordsSkill } from '../../../src/records/agent-texts.ts';
import { KEYLESS_INTERVAL } from '../../../src/records/meter/keyless.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { CATALOG_PATH, CATALOG_TYPE, Catalog, catalogLinks, catalogOf } from '../../openapi/api-catalog.ts';
import { representationOf } from '../../responses/response-cache.ts';
import { operation, type RecordsContext } from '../route.ts';
import { sendPublic } from '../send.ts';
import { FACET_LISTS } from './facets.ts';

const catalogSpec = {
  operationId: 'readApiCatalog',
  tags: ['Public'],
  summary: 'Where this API is described, as RFC 9727 has it',
  responses: { 200: { description: 'The catalog.', content: { 'application/linkset+json': { schema: Catalog } } } },
};

const TEXT = { 'Content-Type': 'text/plain; charset=utf-8' };

export function discovery({ store: { records }, settings, clock: { now } }: AppContext) {
  const { dataOrigin: root, contact, keyedDaily, x402 } = settings;
  const site = { root, keyedDaily, keylessSeconds: KEYLESS_INTERVAL / 1000, sells: x402 !== null };
  const apis = [
    {
      anchor: `${root}/v1`,
      title: 'Domain Records API',
      desc: [{ href: `${root}/v1/openapi.json`, type: 'application/json' }],
      doc: [
        { href: `${root}/docs`, type: 'text/html', title: 'Documentation' },
        { href: `${root}/docs/playground`, type: 'text/html', title: 'Playground' },
        { href: `${root}/SKILL.md`, type: 'text/markdown', title: 'Skill for agents' },
      ],
    },
    {
      anchor: `${root}/mcp`,
      title: 'Domain Records MCP server',
      desc: [{ href: `${root}/.well-known/mcp/server-card.json`, type: 'application/json' }],
      doc: [{ href: `${root}/docs#mcp`, type: 'text/html', title: 'Documentation' }],
    },
  ];
  const catalog = representationOf(JSON.stringify(catalogOf(root, apis)));
  const llms = representationOf(recordsLlms(site));
  const skill = representationOf(recordsSkill(site));

  /** Pages that anyone may read, and each day with changes. Hostnames are not in it: the catalog takes an account. */
  const sitemap = (): string => {
    const first = records.deltas({}, { limit: 1, order: 'oldest' })[0];
    const today = dayOf(now());
    const days = first === undefined ? [] : records.changesByDay(dayOf(first.at), dayAfter(today));
    const paths = [
      ...['', 'domains', ...FACET_LISTS.map(({ path }) => path.slice(1))],
      ...['analytics', 'pricing', 'docs', 'docs/playground', 'verify', 'log/'],
      ...(settings.dumps === null ? [] : ['dumps/']),
      ...new Set(days.map(({ day }) => `changes/${day}`)),
    ];
    return sitemapShard(
      root,
      paths.map((path) => ({ path })),
    );
  };
  /** RFC 9116. */
  const security = (): string =>
    [
      `Contact: ${contact?.url ?? `${root}/docs`}`,
      `Expires: ${monthLater(now(), MONTHS_VALID)}`,
      'Preferred-Languages: en',
      `Canonical: ${root}/.well-known/security.txt`,
      '',
    ].join('\n');

  return {
    catalog: operation(catalogSpec, (c) =>
      sendPublic(c, catalog, { 'Content-Type': CATALOG_TYPE, Link: catalogLinks(root, apis) }),
    ),
    llms: (c: RecordsContext) => sendPublic(c, llms, TEXT),
    skill: (c: RecordsContext) => sendPublic(c, skill, { 'Content-Type': 'text/markdown; charset=utf-8' }),
    sitemap: (c: RecordsContext) =>
      sendPublic(c, representationOf(sitemap()), { 'Content-Type': 'application/xml; charset=utf-8' }),
    security: (c: RecordsContext) => sendPublic(c, representationOf(security()), TEXT),
  };
}

/** The `Link` to the catalog (RFC 9727, section 3). */
export const catalogLink = (root: string): string => `<${root}${CATALOG_PATH}>; rel="api-catalog"`;

/** RFC 9309. Crawlers may read everything public but the results of searches. */
const ROBOTS = `User-agent: *
Disallow: /account
Disallow: /feeds/
Disallow: /search
Disallow: /v1/
Allow: /
`;

export const robots =
  (root: string) =>
  (c: RecordsContext): Response =>
    c.text(`${ROBOTS}\nSitemap: ${root}/sitemap.xml\n`, 200, {
      'Cache-Control': 'public, max-age=3600',
      'X-Content-Type-Options': 'nosniff',
    });
