import { createRoute, z } from '@hono/zod-openapi';
import { ASKS, limitInWords, READS, REFUSED_PAYMENTS } from '../../../src/limits.ts';
import type { Access } from '../../../src/meter/lane.ts';
import { VERSION } from '../../../src/project.ts';
import type { Operation, Paths } from '../../openapi/document.ts';
import { documentOf, registerComponents } from '../../openapi/document.ts';
import { faultRef } from '../../openapi/faults.ts';
import { faults, ok } from '../../openapi/responses.ts';
import { registerWebhooks, STANDARD_HEADERS } from '../../openapi/webhooks.ts';
import { setHeader } from '../../responses/headers.ts';
import { sendPublic } from '../answers.ts';
import type { RecordsDoors } from '../route.ts';
import { register } from '../route.ts';
import { EXAMPLES } from './examples.ts';
import { FAULTS } from './faults.ts';
import { HEADERS } from './headers.ts';
import { ACCESS_WORDS } from './lanes.ts';
import { RECORDS_EVENTS } from './webhook-events.ts';

const document = createRoute({
  method: 'get',
  path: '/v1/openapi.json',
  operationId: 'readOpenApi',
  tags: ['Public'],
  summary: 'This API as an OpenAPI 3.1 document',
  responses: { 200: ok(z.looseObject({ openapi: z.string() }), 'The document.'), ...faults() },
});

const Index = z
  .object({
    service: z.string(),
    version: z.string(),
    docs: z.url(),
    playground: z.url(),
    openapi: z.url(),
    mcp: z.url(),
    sign_in_url: z.url(),
    keys_url: z.url(),
    doors: z.record(
      z.string(),
      z.object({
        method: z.string(),
        url: z.string().openapi({ description: 'An RFC 6570 template.' }),
        access: z.string().openapi({ description: 'Who comes in how, in words.' }),
        summary: z.string(),
      }),
    ),
  })
  .openapi('Index');

const index = createRoute({
  method: 'get',
  path: '/v1',
  operationId: 'readIndex',
  tags: ['Public'],
  summary: 'What there is, and who comes in how',
  responses: { 200: ok(Index, 'The index.'), ...faults() },
});

const TAGS = [
  { name: 'Public', description: 'Open to all: no key, no account.' },
  { name: 'Domains', description: 'What was observed of a hostname: now, at a time, over time.' },
  { name: 'Changes', description: 'What changed between observations.' },
  { name: 'Lists', description: 'What many hostnames have in common.' },
  { name: 'Exports', description: 'Everything in one file, for accounts.' },
  { name: 'Account', description: 'What a key’s account has used, and has left.' },
  { name: 'Queue', description: 'Where scanners take their work and hand it in.' },
  { name: 'Operator', description: 'For those who run the service.' },
];

const KEYS = {
  key: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Service-Key',
    description: 'A key of an account, or of a service: `drs_` and 43 letters and digits.',
  },
  payment: {
    type: 'apiKey',
    in: 'header',
    name: 'X-PAYMENT',
    description:
      'A payment of x402 version 1 for what the 402 of the same request asks, in base64. It buys one answer.',
  },
  paymentV2: {
    type: 'apiKey',
    in: 'header',
    name: 'PAYMENT-SIGNATURE',
    description: 'The same of x402 version 2.',
  },
} as const;

/** The API's description and its table of contents, both made from the doors themselves. */
export function openApiDoors(doors: RecordsDoors): void {
  const { router, app } = doors;
  const root = app.settings.dataOrigin;
  registerComponents(router, { keys: KEYS, headers: HEADERS, faults: FAULTS });
  registerWebhooks(router, RECORDS_EVENTS, { tag: 'Changes', headers: STANDARD_HEADERS });
  let texts: { document: string; index: string } | undefined;
  const made = () => {
    if (texts === undefined) {
      const whole = recordsDocument(doors);
      texts = { document: JSON.stringify(whole), index: JSON.stringify(indexOf(root, whole.paths)) };
    }
    return texts;
  };
  register(doors, 'public', document, (c) => sendPublic(c, made().document));
  register(doors, 'public', index, (c) => {
    const links = [
      `<${root}/v1/openapi.json>; rel="service-desc"; type="application/json"`,
      `<${root}/docs>; rel="service-doc"; type="text/html"`,
    ];
    setHeader(c, 'Link', links.join(', '));
    return sendPublic(c, made().index);
  });
}

function recordsDocument({ router, app }: RecordsDoors): { paths: Paths } & Record<string, unknown> {
  const { contact } = app.settings;
  const { openapi, info, paths, ...rest } = documentOf(router, EXAMPLES, {
    words: (operation) => ACCESS_WORDS[accessOf(operation)].words,
    headers: (operation) => ACCESS_WORDS[accessOf(operation)].headers,
    // How fresh the looks are is asked anew each time.
    isConditional: (operation, method) =>
      method === 'get' && accessOf(operation) === 'public' && operation.operationId !== 'readHealth',
  });
  for (const operation of Object.values(paths).flatMap((item) => Object.values(item))) {
    const { ways, faults } = ACCESS_WORDS[accessOf(operation)];
    operation.security = ways;
    for (const status of faults) operation.responses[status] = faultRef(status);
  }
  return {
    openapi,
    info: {
      ...info,
      title: 'Domain Records API',
      version: '1',
      description: [
        `Served by Broadsheet ${VERSION}.`,
        'Watches hostnames and serves signed observations of them, and the changes between. A domain is a watched hostname, a signal a DNS snapshot of one type, a delta what changed between two, a receipt the signature over an observation.',
        'Send a key as `X-Service-Key: <key>`: one request is one unit of its account’s day, and a failed answer is not charged. Without a key, a read other than of one domain answers 402 with its price.',
        `Without a key one address may make ${limitInWords(READS)} reads of public doors and pages, one keyless lookup in 15 seconds, ask for ${limitInWords(ASKS)} links to sign in, and send ${limitInWords(REFUSED_PAYMENTS)} payments that buy nothing; an IPv6 address counts with its /64. Past that the answer is 429 with \`Retry-After\`.`,
        'Every GET answers HEAD too. An unknown query parameter is ignored. Times are UTC; a day as a time is all of it.',
      ].join('\n\n'),
      ...(contact === null
        ? {}
        : { contact: contact.url.startsWith('mailto:') ? { email: contact.text } : { url: contact.url } }),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: app.settings.dataOrigin, description: 'Domain records' }],
    tags: TAGS,
    externalDocs: { url: `${app.settings.dataOrigin}/docs`, description: 'The docs' },
    paths,
    ...rest,
  };
}

function indexOf(root: string, paths: Paths): z.infer<typeof Index> {
  const doors = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(
      ([method, operation]) =>
        [
          operation.operationId,
          {
            method: method.toUpperCase(),
            url: root + path,
            access: ACCESS_WORDS[accessOf(operation)].words,
            summary: String(operation.summary ?? ''),
          },
        ] as const,
    ),
  );
  return {
    service: 'Domain records',
    version: VERSION,
    docs: `${root}/docs`,
    playground: `${root}/docs/playground`,
    openapi: `${root}/v1/openapi.json`,
    mcp: `${root}/mcp`,
    sign_in_url: `${root}/account`,
    keys_url: `${root}/.well-known/records-keys.json`,
    doors: Object.fromEntries(doors),
  };
}

function accessOf(operation: Operation): Access {
  return operation['x-access'] as Access;
}
