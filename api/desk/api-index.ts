import { createRoute, z } from '@hono/zod-openapi';
import type { Level } from '../../src/desk/keys.ts';
import { LEVELS, reaches } from '../../src/desk/keys.ts';
import type { Paths } from '../openapi/document.ts';
import { faults, ok } from '../openapi/responses.ts';
import { cached, reply } from '../responses/reply.ts';
import type { Doors } from './doors.ts';
import { register } from './doors.ts';
import { levelOf } from './openapi-levels.ts';
import { PUBLIC } from './route.ts';

/** Every address of the API, and the level that it asks for; `null` is open to all. */
const ENDPOINTS: readonly (readonly [name: string, path: string, level: Level | null])[] = [
  ['stories', '/api/v1/stories', null],
  ['story', '/api/v1/stories/{id}', null],
  ['sections', '/api/v1/sections', null],
  ['days', '/api/v1/days', null],
  ['day', '/api/v1/days/{day}', null],
  ['search', '/api/v1/search', null],
  ['front', '/api/v1/front', null],
  ['cast', '/api/v1/cast', null],
  ['posts', '/api/v1/posts', null],
  ['masthead', '/api/v1/masthead', null],
  ['embed', '/embed/{id}', null],
  ['oembed', '/oembed', null],
  ['subscribe', '/api/v1/subscribers', null],
  ['openapi', '/api/v1/openapi.json', null],
  ['proof', '/api/v1/stories/{id}/proof', 'read'],
  ['subscribers', '/api/v1/subscribers', 'read'],
  ['drafts', '/api/v1/drafts', 'read'],
  ['config', '/api/v1/config', 'read'],
  ['agent', '/api/v1/agent', 'read'],
  ['agent_terms', '/api/v1/agent/terms', 'read'],
  ['press', '/api/v1/press/{ticket}', 'read'],
  ['file', '/api/v1/stories', 'agent'],
  ['revise', '/api/v1/stories/{id}', 'agent'],
  ['air', '/api/v1/stories/{id}/airing', 'agent'],
  ['withdraw', '/api/v1/stories/{id}/airing', 'admin'],
  ['agent_terms_accept', '/api/v1/agent/terms/accept', 'admin'],
  ['write_config', '/api/v1/config', 'admin'],
  ['write_persona', '/api/v1/masthead/{slug}', 'admin'],
  ['write_cast', '/api/v1/cast/{day}', 'admin'],
  ['keys', '/api/v1/keys', 'admin'],
  ['key', '/api/v1/keys/{id}', 'admin'],
  ['subscriber', '/api/v1/subscribers/{email}', 'admin'],
  ['webhooks', '/api/v1/webhooks', 'admin'],
  ['webhook', '/api/v1/webhooks/{id}', 'admin'],
  ['webhook_test', '/api/v1/webhooks/{id}/test', 'admin'],
  ['deliveries', '/api/v1/deliveries', 'admin'],
  ['retry_delivery', '/api/v1/deliveries/{id}/retry', 'admin'],
];

const levels = {
  public: 'No key. Public papers only.',
  read: 'A read key, or any seat on the paper: also drafts, proofs, settings as read, and how many subscribe.',
  agent:
    'An agent’s key: reads the same, and files, revises and airs once the paper’s operator has signed the agreement.',
  admin: 'An admin key or an admin’s seat: every write, all settings, subscribers and keys.',
  auth: 'Send the key as `Authorization: Bearer <key>` or as `X-NRF-Key: <key>`. A key is of one paper and works under its path alone.',
};

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
    endpoints: z
      .record(z.string(), z.string())
      .openapi({ description: 'Names and addresses; {…} is an RFC 6570 template.' }),
    doors: z
      .record(
        z.string(),
        z.object({
          method: z.string(),
          url: z.string().openapi({ description: 'An RFC 6570 template.' }),
          level: z
            .enum(['public', ...LEVELS])
            .openapi({ description: 'The least that a key must reach; `public` takes none.' }),
          summary: z.string(),
        }),
      )
      .openapi({ description: 'The same with their methods, by the operations’ names in the OpenAPI document.' }),
    feeds: z.object({
      rss: z.url(),
      podcast: z.url(),
      front_json: z.url(),
      json_feed: z.url(),
      llms: z.url(),
      sitemap: z.url(),
    }),
    levels: z.object({
      public: z.string(),
      read: z.string(),
      agent: z.string(),
      admin: z.string(),
      auth: z.string(),
    }),
    note: z.string(),
    key: z.object({ level: z.enum(LEVELS), name: z.string() }).optional(),
  })
  .openapi('Index');

const index = createRoute({
  method: 'get',
  path: '/api/v1',
  operationId: 'readIndex',
  tags: ['Reading'],
  summary: 'What there is; with a key, every route that its level reaches',
  security: PUBLIC,
  responses: { 200: ok(Index, 'The index.'), ...faults() },
});

interface Door {
  name: string;
  method: string;
  path: string;
  level: Level | 'public';
  summary: string;
}

const known = new WeakMap<Doors['router'], Door[]>();

/** Every operation, as the routes describe it: a door that is opened is listed. */
function allDoors({ router }: Doors): Door[] {
  const found = known.get(router) ?? readDoors(router);
  known.set(router, found);
  return found;
}

function readDoors(router: Doors['router']): Door[] {
  const { paths } = router.getOpenAPI31Document({ openapi: '3.1.0', info: { title: '', version: '1' } });
  return Object.entries(paths as unknown as Paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { operationId, summary = '', security = [] }]) => ({
      name: operationId,
      method: method.toUpperCase(),
      path,
      level: levelOf(security) ?? 'public',
      summary,
    })),
  );
}

/** The API's own table of contents. */
export function indexDoor(doors: Doors): void {
  register(doors, index, (c) => {
    const { slug, root, paper } = c.get('site');
    const key = c.get('key');
    const headers = {
      Link: [
        `<${root}/api/v1/openapi.json>; rel="service-desc"; type="application/json"`,
        `<${root}/api/v1/playground>; rel="service-doc"; type="text/html"`,
        `<${root}/.well-known/api-catalog>; rel="api-catalog"`,
      ].join(', '),
    };
    const body = () => ({
      paper: slug,
      nameplate: paper.nameplate,
      motto: paper.motto,
      description: paper.description,
      home: `${root}/`,
      landing: `${root}/agents/`,
      playground: `${root}/api/v1/playground`,
      endpoints: Object.fromEntries(
        ENDPOINTS.filter(([, , level]) => level === null || (key !== null && reaches(key.level, level))).map(
          ([name, path]) => [name, root + path],
        ),
      ),
      doors: Object.fromEntries(
        allDoors(doors)
          .filter(({ level }) => level === 'public' || (key !== null && reaches(key.level, level)))
          .map(({ name, path, ...door }) => [name, { ...door, url: root + path }]),
      ),
      feeds: {
        rss: `${root}/rss.xml`,
        podcast: `${root}/podcast.xml`,
        front_json: `${root}/front.json`,
        json_feed: `${root}/feed.json`,
        llms: `${root}/llms.txt`,
        sitemap: `${root}/sitemap.xml`,
      },
      levels,
      note: NOTE,
      ...(key === null ? {} : { key: { level: key.level, name: key.name } }),
    });
    return key === null ? cached('index', body, { headers }) : reply(body(), { headers });
  });
}
