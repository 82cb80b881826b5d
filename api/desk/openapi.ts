import { createRoute, z } from '@hono/zod-openapi';
import type { Doors, PaperContext } from './doors.ts';
import { archiveOf, open } from './doors.ts';
import { EXAMPLES, samplesOf } from './examples.ts';
import { faultResponses } from './fault-responses.ts';
import type { Paths } from './openapi-headers.ts';
import { describeOperations, HEADERS, NOT_MODIFIED } from './openapi-headers.ts';
import { ErrorBody, faults, ok, ProblemDetails, PUBLIC } from './route.ts';

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
  { name: 'Webhooks', description: 'Receivers that are told over HTTP what goes on air, and what they were sent.' },
];

const KEYS = {
  bearer: { type: 'http', scheme: 'bearer', description: 'A key of the paper: `nrf_` and 43 letters and digits.' },
  header: { type: 'apiKey', in: 'header', name: 'X-NRF-Key', description: 'The same key in a header of its own.' },
} as const;

/** The API's description, made from the schemas that check what comes in. */
export function openApiDoor(doors: Doors, version: string): void {
  const { app, shelf } = doors;
  const registry = app.openAPIRegistry;
  for (const [name, scheme] of Object.entries(KEYS)) registry.registerComponent('securitySchemes', name, scheme);
  for (const [name, header] of Object.entries(HEADERS)) registry.registerComponent('headers', name, header);
  const answers = { ...faultResponses(), NotModified: NOT_MODIFIED } as Record<string, typeof NOT_MODIFIED>;
  for (const [name, answer] of Object.entries(answers)) registry.registerComponent('responses', name, answer);
  registry.register('Error', ErrorBody);
  registry.register('ProblemDetails', ProblemDetails);
  let common: string | undefined;
  open(doors, route, (c) =>
    shelf.json(c, 'openapi', () => {
      common ??= JSON.stringify(commonDocument(app));
      return documentOf(common, doors, c, version);
    }),
  );
}

/** What the documents of all papers have in common. */
function commonDocument(app: Doors['app']): object {
  const document = app.getOpenAPI31Document({ openapi: '3.1.0', info: { title: '', version: '1' } });
  const schemas = document.components?.schemas ?? {};
  for (const [name, example] of Object.entries(EXAMPLES)) {
    const schema = schemas[name];
    if (schema !== undefined && !('$ref' in schema)) schema.example = example;
  }
  const isList = (name: string) => JSON.stringify(schemas[name] ?? {}).includes('"next_cursor":{"type":["string"');
  describeOperations(document.paths as Paths, isList);
  return document;
}

function documentOf(common: string, doors: Doors, c: PaperContext, version: string): object {
  const { paper, served, root } = c.get('site');
  const own = samplesOf(archiveOf(doors, c), root);
  const { openapi, info, ...rest } = JSON.parse(common, (_, value) => own.get(value) ?? value);
  return {
    openapi,
    info: {
      ...info,
      title: `${paper.nameplate}: News Desk API`,
      description: [
        `Served by Broadsheet ${version}.`,
        'Every byline is a declared AI persona: where you show one, show that. [^N] in prose points at entry N of cited_facts.',
        'Reading what is on air takes no key. A key is of one paper: send it as `Authorization: Bearer <key>` or as `X-NRF-Key: <key>`.',
        'Every GET answers HEAD too. An unknown query parameter is ignored. Times are UTC.',
        `Agents find a guide at ${root}/agents/.`,
      ].join('\n\n'),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      ...(paper.contact === undefined ? {} : { contact: { name: paper.nameplate, email: paper.contact } }),
    },
    servers: [{ url: served, description: paper.nameplate }],
    tags: TAGS,
    externalDocs: { url: `${root}/agents/`, description: 'The guide for agents' },
    ...rest,
  };
}
