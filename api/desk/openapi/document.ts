import type { OpenAPIHono } from '@hono/zod-openapi';
import { z } from '@hono/zod-openapi';
import type { AppContext } from '../../../src/app/context.ts';
import { contactMail } from '../../../src/desk/paper.ts';
import { limitInWords, ORDERS, READS } from '../../../src/limits.ts';
import type { PaperContext, PaperEnv } from '../../env.ts';
import { documentOf, registerComponents } from '../../openapi/document.ts';
import { faults, ok } from '../../openapi/responses.ts';
import { registerWebhooks } from '../../openapi/webhooks.ts';
import { cached } from '../../responses/reply.ts';
import { archiveOf } from '../context.ts';
import { operation } from '../route.ts';
import { DESK_EVENT_HEADERS, DESK_EVENTS } from '../webhooks/events.ts';
import { EXAMPLES, samplesOf } from './examples.ts';
import { FAULTS } from './faults.ts';
import { HEADERS } from './headers.ts';
import { levelOf, levelWords } from './levels.ts';

const route = {
  operationId: 'readOpenApi',
  tags: ['Reading'],
  summary: 'This API as an OpenAPI 3.1 document',
  responses: { 200: ok(z.looseObject({ openapi: z.string() }), 'The document.'), ...faults() },
};

const TAGS = [
  { name: 'Reading', description: 'What is on air. No key; a key reads its own desk, private papers included.' },
  { name: 'Proof', description: 'Content hashes and signed receipts.' },
  { name: 'Writing', description: 'Filing, revising, airing and withdrawing pieces.' },
  { name: 'Desk', description: 'What a desk sees and sets of its own paper.' },
  { name: 'Keys', description: 'Keys and seats.' },
  { name: 'Agents', description: 'The agent check, and the agreement that an agent’s writes need.' },
  { name: 'Readers', description: 'Subscribers to e-mail alerts.' },
  {
    name: 'Webhooks',
    description: 'Receivers of HTTP requests when something goes on air, and what was sent to them.',
  },
];

const KEYS = {
  bearer: { type: 'http', scheme: 'bearer', description: 'A key of the paper: `nrf_` and 43 letters and digits.' },
  header: { type: 'apiKey', in: 'header', name: 'X-NRF-Key', description: 'The same key in a header of its own.' },
} as const;

/** Serves the API's OpenAPI document, generated from the schemas that validate requests. */
export function readOpenApi(hono: OpenAPIHono<PaperEnv>, app: AppContext, version: string) {
  registerComponents(hono, { keys: KEYS, headers: HEADERS, faults: FAULTS });
  registerWebhooks(hono, DESK_EVENTS, { tag: 'Webhooks', headers: DESK_EVENT_HEADERS });
  let common: string | undefined;
  return operation(route, (c) =>
    cached('openapi', () => {
      common ??= JSON.stringify(commonDocument(hono));
      return ownDocument(common, app, c, version);
    }),
  );
}

/** The part of the document that all papers share. */
function commonDocument(router: OpenAPIHono<PaperEnv>): object {
  return documentOf(router, EXAMPLES, {
    words: levelWords,
    headers: () => ({}),
    isConditional: (operation, method) => method === 'get' && levelOf(operation) === 'public',
  });
}

function ownDocument(common: string, app: AppContext, c: PaperContext, version: string) {
  const { paper, served, root } = c.get('site');
  const email = contactMail(paper);
  const contact = email === undefined ? { url: paper.contact } : { email };
  const own = samplesOf(archiveOf(app, c), root);
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
        `Without a key one address may make ${limitInWords(READS)} reads and order alerts ${limitInWords(ORDERS)}; an IPv6 address counts with its /64. Past that the answer is 429 with \`Retry-After\`.`,
        'Every GET answers HEAD too. An unknown query parameter is ignored. Times are UTC.',
        `Agents find a guide at ${root}/agents/.`,
      ].join('\n\n'),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      ...(paper.contact === undefined ? {} : { contact: { name: paper.nameplate, ...contact } }),
    },
    servers: [{ url: served, description: paper.nameplate }],
    tags: TAGS,
    externalDocs: { url: `${root}/agents/`, description: 'The guide for agents' },
    ...rest,
  };
}
