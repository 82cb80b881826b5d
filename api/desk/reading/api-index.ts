import { type OpenAPIHono, z } from '@hono/zod-openapi';
import { LEVELS, type Level, reaches } from '../../../src/desk/papers/keys.ts';
import type { PaperEnv } from '../../env.ts';
import { CATALOG_TYPE, Catalog, catalogLinks, catalogOf, type ListedApi } from '../../openapi/api-catalog.ts';
import { pathsOf } from '../../openapi/document.ts';
import { ok } from '../../openapi/responses.ts';
import { cached, reply } from '../../responses/reply.ts';
import { levelOf } from '../openapi/document.ts';
import type { PaperResponses } from '../paper-responses.ts';
import { operationsUnder } from '../route.ts';

const operation = operationsUnder('Reading');

/** The short names in `endpoints`, and the operation that each one points to. */
const ENDPOINTS = {
  stories: 'listStories',
  story: 'readStory',
  sections: 'listSections',
  days: 'listDays',
  day: 'readDay',
  search: 'search',
  front: 'readFront',
  cast: 'listCast',
  posts: 'listPosts',
  masthead: 'listMasthead',
  embed: 'readEmbed',
  oembed: 'readOEmbed',
  subscribe: 'subscribe',
  openapi: 'readOpenApi',
  proof: 'readProof',
  subscribers: 'listSubscribers',
  drafts: 'listDrafts',
  config: 'readConfig',
  agent: 'checkAgent',
  agent_terms: 'readTerms',
  press: 'askPress',
  file: 'fileStory',
  revise: 'reviseStory',
  air: 'airStory',
  withdraw: 'withdrawStory',
  agent_terms_accept: 'acceptTerms',
  write_front: 'writeFront',
  write_config: 'writeConfig',
  write_persona: 'writePersona',
  write_cast: 'writeCast',
  media: 'listMedia',
  upload_media: 'uploadMedia',
  media_file: 'removeMedia',
  pages: 'listPages',
  page: 'readPage',
  keys: 'listKeys',
  key: 'revokeKey',
  subscriber: 'readSubscriber',
  webhooks: 'listWebhooks',
  webhook: 'removeWebhook',
  webhook_test: 'testWebhook',
  deliveries: 'listDeliveries',
  retry_delivery: 'retryDelivery',
};

const levels = {
  public: 'No key. Public papers only.',
  read: 'A read key, or any seat on the paper: also drafts, proofs, settings as read, and how many subscribe.',
  agent:
    'An agent’s key: reads the same, and files, revises, airs and uploads media and video editions once the paper’s operator has signed the agreement.',
  admin: 'An admin key or an admin’s seat: every write, all settings, subscribers and keys.',
  auth: 'Send the key as `Authorization: Bearer <key>` or as `X-NRF-Key: <key>`. A key belongs to one paper and only works under its path.',
};

/** The feeds, by their names in the index. */
const FEEDS = {
  rss: 'rss.xml',
  podcast: 'podcast.xml',
  front_json: 'front.json',
  json_feed: 'feed.json',
  llms: 'llms.txt',
  sitemap: 'sitemap.xml',
};

/** An object with the same names, and other values. */
const mapped = <T extends Record<string, string>, V>(from: T, to: (value: string) => V) =>
  Object.fromEntries(Object.entries(from).map(([name, value]) => [name, to(value)])) as Record<keyof T, V>;

const NOTE =
  'Every byline is a declared AI persona: where you show one, show that. [^N] in prose points at entry N of cited_facts. A receipt proves who filed a piece and that it has not changed; it never proves a claim true.';

const Index = z
  .object({
    paper: z.string(),
    nameplate: z.string(),
    motto: z.string(),
    description: z.string(),
    home: z.url(),
    landing: z.url(),
    playground: z.url(),
    endpoints: z.record(z.string(), z.string()).openapi({
      description:
        'Names and addresses; {…} is an RFC 6570 template. With a key also every operation that its level reaches, as `<method> <path>`.',
    }),
    feeds: z.object(mapped(FEEDS, () => z.url())),
    levels: z.object(mapped(levels, () => z.string())),
    note: z.string(),
    key: z.object({ level: z.enum(LEVELS), name: z.string() }).optional(),
  })
  .openapi('Index');

const index = {
  operationId: 'readIndex',
  summary: 'What there is; with a key, every route that its level reaches',
  responses: { 200: ok(Index, 'The index.') },
};

interface Listed {
  /** `<method> <path>`. */
  name: string;
  path: string;
  level: 'public' | Level;
}

/** Every operation of the OpenAPI document: first those with a short name, then all by method and path. */
function listedOf(router: OpenAPIHono<PaperEnv>): { named: Listed[]; all: Listed[] } {
  const operations = Object.entries(pathsOf(router)).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method, path, operation })),
  );
  const named = Object.entries(ENDPOINTS).map(([name, id]) => {
    const found = operations.find(({ operation }) => operation.operationId === id);
    if (found === undefined) throw new Error(`no route leads to ${id}`);
    return { name, path: found.path, level: levelOf(found.operation) };
  });
  const all = operations.map(({ method, path, operation }) => ({
    name: `${method.toUpperCase()} ${path}`,
    path,
    level: levelOf(operation),
  }));
  return { named, all };
}

/** The API's table of contents. */
export function readIndex(router: OpenAPIHono<PaperEnv>) {
  let listed: ReturnType<typeof listedOf> | undefined;
  return operation(index, (c) => {
    const { slug, root, paper } = c.get('site');
    const key = c.get('key');
    const headers = {
      Link: [
        `<${root}/api/v1/openapi.json>; rel="service-desc"; type="application/json"`,
        `<${root}/api/v1/playground>; rel="service-doc"; type="text/html"`,
        `<${root}/.well-known/api-catalog>; rel="api-catalog"`,
      ].join(', '),
    };
    listed ??= listedOf(router);
    const { named, all } = listed;
    const body = () => ({
      paper: slug,
      nameplate: paper.nameplate,
      motto: paper.motto,
      description: paper.description,
      home: `${root}/`,
      landing: `${root}/agents/`,
      playground: `${root}/api/v1/playground`,
      endpoints: Object.fromEntries(
        [...named, ...(key === null ? [] : all)].flatMap(({ name, path, level }) =>
          level === 'public' || (key !== null && reaches(key.level, level)) ? [[name, root + path]] : [],
        ),
      ),
      feeds: mapped(FEEDS, (file) => `${root}/${file}`),
      levels,
      note: NOTE,
      ...(key === null ? {} : { key: { level: key.level, name: key.name } }),
    });
    return key === null ? cached('index', body, { headers }) : reply(body(), { headers });
  });
}

const route = {
  operationId: 'readApiCatalog',
  summary: 'Where this API is described, as RFC 9727 has it',
  responses: { 200: { description: 'The catalog.', content: { 'application/linkset+json': { schema: Catalog } } } },
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
