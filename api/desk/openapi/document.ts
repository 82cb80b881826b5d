import { type OpenAPIHono, z } from '@hono/zod-openapi';
import type { Level } from '../../../src/desk/papers/keys.ts';
import { contactMail } from '../../../src/desk/papers/paper.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { limitInWords, ORDERS, READS } from '../../../src/shared/limits.ts';
import type { PaperContext, PaperEnv } from '../../env.ts';
import { documentOf, type Operation, registerComponents } from '../../openapi/document.ts';
import { ok } from '../../openapi/responses.ts';
import { registerWebhooks } from '../../openapi/webhooks.ts';
import { cached } from '../../responses/reply.ts';
import { archiveOf } from '../context.ts';
import { type Access, operationsUnder } from '../route.ts';
import { DESK_EVENT_HEADERS, DESK_EVENTS } from '../webhooks/events.ts';
import { EXAMPLES, samplesOf } from './examples.ts';
import { FAULTS } from './faults.ts';

/** Response headers of the news desk, beside those of every service. */
export const HEADERS = {
  ETag: {
    description: 'The edition that the response was made from. Only sent to requests without a key.',
    schema: { type: 'string' },
    example: '"412-9f86d081"',
  },
} as const;

const WORDS: Record<Level, string> = {
  read: 'Takes any key of the paper.',
  agent: 'Takes an admin key, or an agent’s once the paper has signed the agreement.',
  admin: 'Takes an admin key.',
};

/** The OpenAPI security requirements of an operation. The roles of a requirement name the key level. */
export function securityOf(access: Access): Record<string, string[]>[] {
  // Open to all callers. A key also reads its own desk, private papers included.
  if (access === 'public' || access === 'token') return [{}, { bearer: [] }, { header: [] }];
  return [{ bearer: [access] }, { header: [access] }];
}

/** The key level that an operation requires: the role in its first security requirement. */
export function levelOf({ security }: Operation): 'public' | Level {
  return (security?.[0]?.bearer?.[0] as Level | undefined) ?? 'public';
}

/** The same in words: few viewers show the roles of a security requirement. */
export function levelWords(operation: Operation): string {
  const level = levelOf(operation);
  return level === 'public' ? '' : WORDS[level];
}

const route = {
  operationId: 'readOpenApi',
  summary: 'This API as an OpenAPI 3.1 document',
  responses: { 200: ok(z.looseObject({ openapi: z.string() }), 'The document.') },
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
  return operationsUnder('Reading')(route, (c) =>
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
        'Reading pieces on air requires no key. A key belongs to one paper: send it as `Authorization: Bearer <key>` or as `X-NRF-Key: <key>`.',
        `Without a key an address is limited to ${limitInWords(READS)} for reads and ${limitInWords(ORDERS)} for requests to subscribe; an IPv6 address counts with its /64. Past that the answer is 429 with \`Retry-After\`.`,
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
