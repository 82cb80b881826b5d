import { z } from '@hono/zod-openapi';
import { faults } from '../../openapi/responses.ts';
import type { PaperRoutes } from '../router.ts';
import { operation } from '../router.ts';

/** The path at which a host lists its APIs (RFC 9727, section 2). */
export const CATALOG_PATH = '/.well-known/api-catalog';

/** The media type of a linkset that is an API catalog (RFC 9727, section 5; RFC 9264, section 4.2). */
export const CATALOG_TYPE = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';

const Target = z.object({ href: z.url(), type: z.string().optional(), title: z.string().optional() });

const Catalog = z
  .object({
    linkset: z.array(
      z.object({
        anchor: z.url().openapi({ description: 'The catalog itself, or the index of one API.' }),
        item: z.array(Target).optional().openapi({ description: 'The APIs that are listed.' }),
        'service-desc': z.array(Target).optional(),
        'service-doc': z.array(Target).optional(),
      }),
    ),
  })
  .openapi('ApiCatalog', { description: 'A linkset as RFC 9264 has it: first the catalog, then each of its APIs.' });

const route = operation({
  operationId: 'readApiCatalog',
  tags: ['Reading'],
  summary: 'Where this API is described, as RFC 9727 has it',
  responses: {
    200: { description: 'The catalog.', content: { 'application/linkset+json': { schema: Catalog } } },
    ...faults(),
  },
});

/** A paper's own catalog. */
export function catalogRoutes(routes: PaperRoutes): void {
  routes.operation(route, (c) => {
    const { root, paper } = c.get('site');
    const papers = [{ root, nameplate: paper.nameplate }];
    const headers = { 'Content-Type': CATALOG_TYPE, Link: catalogLinks(root, papers) };
    return routes.responses.text(c, 'api-catalog', () => JSON.stringify(catalogOf(root, papers)), headers);
  });
}

interface Listed {
  /** The paper's public address. */
  root: string;
  nameplate: string;
}

/** The catalog of some papers' APIs, published at `root`. */
export function catalogOf(root: string, papers: readonly Listed[]): z.infer<typeof Catalog> {
  const apis = papers.map((paper) => ({
    anchor: `${paper.root}/api/v1`,
    'service-desc': [{ href: `${paper.root}/api/v1/openapi.json`, type: 'application/json' }],
    'service-doc': [
      { href: `${paper.root}/api/v1/playground`, type: 'text/html', title: 'Playground' },
      { href: `${paper.root}/agents/`, type: 'text/html', title: 'Guide for agents' },
    ],
  }));
  const item = papers.map((paper) => ({
    href: `${paper.root}/api/v1`,
    type: 'application/json',
    title: `${paper.nameplate}: News Desk API`,
  }));
  return { linkset: [{ anchor: root + CATALOG_PATH, item }, ...apis] };
}

/**
 * The `Link` header of the catalog's GET and HEAD responses (RFC 9727, section 2). Long lists are in the catalog only.
 */
export function catalogLinks(root: string, papers: readonly Listed[]): string {
  const items = papers.map((paper) => `<${paper.root}/api/v1>; rel="item"`);
  return [`<${root}${CATALOG_PATH}>; rel="api-catalog"`, ...items].join(', ');
}
