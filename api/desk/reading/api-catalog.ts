import type { ListedApi } from '../../openapi/api-catalog.ts';
import { CATALOG_TYPE, Catalog, catalogLinks, catalogOf } from '../../openapi/api-catalog.ts';
import { faults } from '../../openapi/responses.ts';
import type { PaperResponses } from '../paper-responses.ts';
import { operation } from '../route.ts';

const route = {
  operationId: 'readApiCatalog',
  tags: ['Reading'],
  summary: 'Where this API is described, as RFC 9727 has it',
  responses: {
    200: { description: 'The catalog.', content: { 'application/linkset+json': { schema: Catalog } } },
    ...faults(),
  },
};

/** A paper's own catalog. */
export function readApiCatalog(responses: PaperResponses) {
  return operation(route, (c) => {
    const { root, paper } = c.get('site');
    const apis = [paperApi({ root, nameplate: paper.nameplate })];
    const headers = { 'Content-Type': CATALOG_TYPE, Link: catalogLinks(root, apis) };
    return responses.text(c, 'api-catalog', () => JSON.stringify(catalogOf(root, apis)), headers);
  });
}

/** A paper's API; `root` is the paper's public address. */
export function paperApi({ root, nameplate }: { root: string; nameplate: string }): ListedApi {
  return {
    anchor: `${root}/api/v1`,
    title: `${nameplate}: News Desk API`,
    desc: [{ href: `${root}/api/v1/openapi.json`, type: 'application/json' }],
    doc: [
      { href: `${root}/api/v1/playground`, type: 'text/html', title: 'Playground' },
      { href: `${root}/agents/`, type: 'text/html', title: 'Guide for agents' },
    ],
  };
}
