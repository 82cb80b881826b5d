import { createRoute, z } from '@hono/zod-openapi';
import type { Doors, PaperContext } from './doors.ts';
import { open } from './doors.ts';
import { faults, ok, PUBLIC } from './route.ts';

const route = createRoute({
  method: 'get',
  path: '/api/v1/openapi.json',
  operationId: 'readOpenApi',
  tags: ['Reading'],
  summary: 'This API as an OpenAPI 3.1 document',
  security: PUBLIC,
  responses: { 200: ok(z.looseObject({ openapi: z.string() }), 'The document.'), ...faults() },
});

const TAGS = [
  { name: 'Reading', description: 'What is on air. No key; a key reads its own desk, private papers included.' },
  { name: 'Proof', description: 'Content hashes and signed receipts.' },
  { name: 'Writing', description: 'Filing, revising, airing and withdrawing pieces.' },
  { name: 'Desk', description: 'What a desk sees and sets of its own paper.' },
  { name: 'Keys', description: 'Keys and seats.' },
  { name: 'Agents', description: 'The agent check, and the agreement that an agent’s writes need.' },
  { name: 'Readers', description: 'Subscribers to e-mail alerts.' },
];

/** The API's description, made from the schemas that check what comes in. */
export function openApiDoor(doors: Doors, version: string): void {
  const { app, shelf } = doors;
  const { registerComponent } = app.openAPIRegistry;
  for (const [name, scheme] of Object.entries({
    bearer: { type: 'http', scheme: 'bearer', description: 'A key of the paper: `nrf_` and 43 letters and digits.' },
    header: { type: 'apiKey', in: 'header', name: 'X-NRF-Key', description: 'The same key in a header of its own.' },
  } as const)) {
    registerComponent.call(app.openAPIRegistry, 'securitySchemes', name, scheme);
  }
  open(doors, route, (c) => shelf.json(c, 'openapi', () => documentOf(app, c, version)));
}

function documentOf(app: Doors['app'], c: PaperContext, version: string): object {
  const { paper, served, root } = c.get('site');
  return app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: `${paper.nameplate}: News Desk API`,
      version: '1',
      description: `Served by Broadsheet ${version}. Every byline is a declared AI persona: where you show one, show that. [^N] in prose points at entry N of cited_facts. Agents find a guide at ${root}/agents/.`,
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url: served, description: paper.nameplate }],
    tags: TAGS,
    externalDocs: { url: `${root}/agents/`, description: 'The guide for agents' },
  });
}
