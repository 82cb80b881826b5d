import { type OpenAPIHono, z } from '@hono/zod-openapi';
import { SERVICE_LEVELS, type ServiceKey } from '../../../src/records/accounts/service-key.ts';
import { laneOf } from '../../../src/records/meter/lane.ts';
import type { Settings } from '../../../src/server/env.ts';
import { ASKS, limitInWords, READS, REFUSED_PAYMENTS } from '../../../src/shared/limits.ts';
import { VERSION } from '../../../src/shared/project.ts';
import type { RecordsEnv } from '../../env.ts';
import { documentOf, type Paths, registerComponents } from '../../openapi/document.ts';
import { faultRef } from '../../openapi/faults.ts';
import { ok } from '../../openapi/responses.ts';
import { registerWebhooks, STANDARD_HEADERS, type WebhookEvent } from '../../openapi/webhooks.ts';
import { reply } from '../../responses/reply.ts';
import { representationOf } from '../../responses/response-cache.ts';
import { catalogLink } from '../pages/discovery.ts';
import { operation } from '../route.ts';
import { ExpectationEvent } from '../v1/account/expectations.ts';
import { Delta } from '../v1/record-schemas.ts';
import { EXAMPLES } from './examples.ts';
import { FAULTS } from './faults.ts';
import { ACCESS_WORDS, accessOf, HEADERS } from './lanes.ts';

/** Operations whose responses are true only for a moment, and must not be cached. */
const UNCACHED: ReadonlySet<string> = new Set(['readHealth', 'readReadiness']);

const documentSpec = {
  operationId: 'readOpenApi',
  tags: ['Public'],
  summary: 'The OpenAPI 3.1 document of this API',
  responses: { 200: ok(z.looseObject({ openapi: z.string() }), 'The document.') },
};

const TAGS = [
  { name: 'Public', description: 'Open to everyone, without a key or an account.' },
  { name: 'Domains', description: 'Observations of a hostname: the latest, as of a time, and over time.' },
  { name: 'Changes', description: 'Changes between observations.' },
  { name: 'Lists', description: 'What many hostnames have in common.' },
  { name: 'Exports', description: 'Complete data as one file, for accounts.' },
  {
    name: 'Account',
    description: 'What the key’s account holds: usage, credits, keys, groups, watched hostnames, alerts.',
  },
  { name: 'Queue', description: 'Where scanners lease hostnames and submit results.' },
  { name: 'Operator', description: 'For the operators of the service.' },
];

const KEYS = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'A key of an account or a service: `drs_` followed by 43 letters and digits.',
  },
  key: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Service-Key',
    description: 'The same key in a header of its own.',
  },
  payment: {
    type: 'apiKey',
    in: 'header',
    name: 'X-PAYMENT',
    description:
      'An x402 version 1 payment for the offer in the 402 of the same request, in base64. It buys one response.',
  },
  paymentV2: {
    type: 'apiKey',
    in: 'header',
    name: 'PAYMENT-SIGNATURE',
    description: 'The same for x402 version 2.',
  },
} as const;

/** The OpenAPI document and the index of operations. Both are generated from the registered routes, on first use. */
export function apiDescription(router: OpenAPIHono<RecordsEnv>, settings: Settings) {
  const root = settings.dataOrigin;
  const link = `<${root}/v1/openapi.json>; rel="service-desc"; type="application/json", <${root}/docs>; rel="service-doc"; type="text/html", ${catalogLink(root)}`;
  registerComponents(router, { keys: KEYS, headers: HEADERS, faults: FAULTS });
  registerWebhooks(router, RECORDS_EVENTS, { tag: 'Changes', headers: STANDARD_HEADERS });
  const described = once(() => {
    const document = recordsDocument(router, settings);
    return {
      document: representationOf(JSON.stringify(document)),
      index: representationOf({ text: JSON.stringify(indexOf(root, document.paths)), link }),
      paths: document.paths,
    };
  });
  return {
    readOpenApi: operation(documentSpec, () => described().document),
    readIndex: operation(indexSpec, (c) => {
      const key = c.get('key');
      return key === null
        ? described().index
        : reply(indexOf(root, described().paths, key), { headers: { Link: link } });
    }),
  };
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

function recordsDocument(
  router: OpenAPIHono<RecordsEnv>,
  settings: Settings,
): { paths: Paths } & Record<string, unknown> {
  const { contact } = settings;
  const { openapi, info, paths, ...rest } = documentOf(router, EXAMPLES, {
    words: (operation) => ACCESS_WORDS[accessOf(operation)].words,
    headers: (operation) => ACCESS_WORDS[accessOf(operation)].headers,
    isConditional: (operation, method) =>
      method === 'get' && accessOf(operation) === 'public' && !UNCACHED.has(operation.operationId),
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
        'Watches hostnames and serves signed observations of them and the changes between. A domain is a watched hostname, a signal is a DNS snapshot of one type, a delta is the change between two, and a receipt is the signature over an observation.',
        'Send a key as `Authorization: Bearer <key>` or as `X-Service-Key: <key>`: each request costs one unit of the account’s daily allowance, and failed requests are free. Without a key, every read except that of one domain responds with 402 and its price; for that one, `pay=1` or `Prefer: payment` asks for it.',
        `Limits per address without a key: ${limitInWords(READS)} reads of public routes and pages, one keyless lookup every 15 seconds, ${limitInWords(ASKS)} sign-in links, and ${limitInWords(REFUSED_PAYMENTS)} rejected payments. IPv6 addresses are counted by /64. Beyond that, the response is 429 with \`Retry-After\`.`,
        'Every GET also takes HEAD. Unknown query parameters are ignored. Times are UTC; a date stands for that whole day.',
      ].join('\n\n'),
      ...(contact === null
        ? {}
        : { contact: contact.url.startsWith('mailto:') ? { email: contact.text } : { url: contact.url } }),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: settings.dataOrigin, description: 'Domain records' }],
    tags: TAGS,
    externalDocs: { url: `${settings.dataOrigin}/docs`, description: 'Documentation' },
    paths,
    ...rest,
  };
}

const Index = z
  .object({
    service: z.string(),
    version: z.string(),
    docs: z.url(),
    playground: z.url(),
    openapi: z.url(),
    mcp: z.url(),
    llms: z.url(),
    skill: z.url(),
    sign_in_url: z.url(),
    keys_url: z.url(),
    endpoints: z
      .record(
        z.string(),
        z.object({
          method: z.string(),
          url: z.string().describe('A URL template (RFC 6570).'),
          access: z.string().describe('Who has access, in words.'),
          summary: z.string(),
        }),
      )
      .describe('By operation; with a key, those that its level opens.'),
    key: z.object({ level: z.enum(SERVICE_LEVELS), name: z.string() }).optional(),
  })
  .openapi('Index');

const indexSpec = {
  operationId: 'readIndex',
  tags: ['Public'],
  summary: 'Every operation, and who has access to it; with a key, every operation that it opens',
  responses: { 200: ok(Index, 'The index.') },
};

export function indexOf(root: string, paths: Paths, key: ServiceKey | null = null): z.infer<typeof Index> {
  const endpoints: z.infer<typeof Index>['endpoints'] = {};
  for (const [path, item] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(item)) {
      const access = accessOf(operation);
      if (key !== null && !('lane' in laneOf({ key: key.level, payment: false }, access))) continue;
      endpoints[operation.operationId] = {
        method: method.toUpperCase(),
        url: root + path,
        access: ACCESS_WORDS[access].words,
        summary: String(operation.summary ?? ''),
      };
    }
  }
  return {
    service: 'Domain records',
    version: VERSION,
    docs: `${root}/docs`,
    playground: `${root}/docs/playground`,
    openapi: `${root}/v1/openapi.json`,
    mcp: `${root}/mcp`,
    llms: `${root}/llms.txt`,
    skill: `${root}/SKILL.md`,
    sign_in_url: `${root}/account`,
    keys_url: `${root}/.well-known/records-keys.json`,
    endpoints,
    ...(key === null ? {} : { key: { level: key.level, name: key.name } }),
  };
}

/** The events of an account's webhooks, by type (`src/records/accounts/change-queue.ts`). */
const RECORDS_EVENTS: Readonly<Record<string, WebhookEvent>> = {
  'domain.changed': {
    name: 'DomainChanged',
    summary: 'Hostnames of an alert have changed',
    data: z.object({ changes: z.array(Delta).min(1).describe('Oldest first.') }),
  },
  ...Object.fromEntries(
    Object.entries({
      unexpected: ['DomainUnexpected', 'A name does not answer what the account expects'],
      as_expected: ['DomainAsExpected', 'A name answers what is expected again'],
      done_as_planned: ['DomainDoneAsPlanned', 'A planned change was made within its window'],
      plan_missed: ['DomainPlanMissed', 'A window ended without the planned change'],
    } satisfies Record<z.infer<typeof ExpectationEvent>['kind'], [name: string, summary: string]>).map(
      ([kind, [name, summary]]) => [
        `domain.${kind}`,
        { name: name as string, summary: summary as string, data: z.object({ event: ExpectationEvent }) },
      ],
    ),
  ),
  'webhook.test': {
    name: 'WebhookTest',
    summary: 'A test of the receiver',
    data: z.object({ alert: z.string().describe('The alert’s id.') }),
  },
};
