import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { newKey } from '../../src/desk/papers/keys.ts';
import { tempFolder } from '../support/app-context.ts';
import type { Answer } from '../support/http.ts';
import { send } from '../support/send.ts';
import { serveHere } from '../support/serve-here.ts';
import { enterPapers, storyBody } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';

/** Under a paper's root: what its readers ask for. */
const FILES = [
  [
    '',
    '/',
    '/index.html',
    '/front.json',
    '/rss.xml',
    '/feed.json',
    '/podcast.xml',
    '/sitemap.xml',
    '/sitemap-news.xml',
  ],
  ['/llms.txt', '/robots.txt', '/_headers', '/404.html', '/.well-known/newsdesk-keys.json', '/.well-known/api-catalog'],
  ['/stories/high-water', '/stories/high-water/', '/stories/high-water.md', '/stories/high-water/proof.json'],
  ['/sections/tides/', '/sections/tides/rss.xml', '/days/', '/days/2026-11-18/', '/masthead/', '/masthead/vera-holm/'],
  [
    '/cast/',
    '/cast/2026-11-19/',
    '/cast/2026-11-19/embed/',
    '/media/cast/2026-11-16.mp4',
    '/media/art/buoys.svg',
    '/portraits/vera-holm.png',
  ],
  ['/search/', '/subscribe/', '/corrections/', '/standards/', '/agents/', '/agents/SKILL.md', '/nothing'],
  [
    '/embed/high-water',
    '/embed/high-water/',
    '/oembed',
    '/oembed?url=x',
    '/oembed/',
    '/api',
    '/api/',
    '/api/v1/nothing',
  ],
].flat();

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'];
/** On a push a caller asks an address by one method, and the next address or caller by the next. */
const methodsOf = (turn: number) =>
  ONLY_WIDE === false ? METHODS : METHODS.filter((_, n) => n === turn % METHODS.length);
/** On a push each caller asks every fourth address. */
const isTried = (turn: number) => ONLY_WIDE === false || turn % 4 === 0;

test('a private paper is indistinguishable from one that does not exist', async (t) => {
  const folder = tempFolder(t);
  const keys = await enterPapers(folder, [
    { slug: 'the-open' },
    { slug: 'quiet-paper', isPublic: false },
    { slug: 'quiet-own', isPublic: false, url: 'http://quiet-own.example' },
  ]);
  const { url } = await serveHere(t, folder);
  const [open, quiet, own] = ['the-open', 'quiet-paper', 'quiet-own'].map((slug) => keys.get(slug));
  assert.ok(open && quiet && own);
  const doors = await doorsOf(url);
  const paths = [...FILES, ...doors, ...doors.map((path) => `${path}/`)];
  const callers: Record<string, string>[] = [
    {},
    { accept: 'text/html' },
    { accept: 'application/problem+json' },
    { origin: 'https://elsewhere.example', 'access-control-request-method': 'GET' },
    { 'if-none-match': '*', range: 'bytes=0-9' },
    { authorization: `Bearer ${newKey(randomBytes)}` },
    { 'x-nrf-key': `${quiet.read.slice(0, -1)}${quiet.read.endsWith('A') ? 'B' : 'A'}` },
    { 'x-nrf-key': open.admin },
    { authorization: `Bearer ${open.read}` },
    { authorization: 'Basic cXVpZXQtcGFwZXI6' },
  ];

  await t.test(
    'on the shared host, at every address, by every method, with every key that is not its own',
    async () => {
      for (const [who, headers] of callers.entries()) {
        for (const [at, path] of paths.entries()) {
          if (!isTried(who + at)) continue;
          for (const method of methodsOf(who + at)) {
            const [hidden, absent] = await Promise.all(
              ['quiet-paper', 'never-there'].map((slug) => asked(url, method, `/${slug}${path}`, headers)),
            );
            assert.deepEqual(told(hidden, 'quiet-paper'), told(absent, 'never-there'), `${method} ${path}`);
            assert.ok([204, 400, 401, 403, 404, 405].includes(hidden?.status ?? 0), `${method} ${path}`);
          }
        }
      }
    },
  );

  await t.test('on its own domain, beside a domain that points here by mistake', async () => {
    for (const [who, headers] of callers.entries()) {
      const more = ['/quiet-own/api/v1/stories', '/the-open/api/v1/stories', '/the-open/'];
      for (const [at, path] of [...paths, ...more].entries()) {
        if (path === '' || !isTried(who + at)) continue;
        for (const method of methodsOf(who + at)) {
          const [hidden, absent] = await Promise.all(
            ['quiet-own', 'never-own'].map((name) => asked(url, method, path, { ...headers, host: `${name}.example` })),
          );
          assert.deepEqual(told(hidden, 'quiet-own'), told(absent, 'never-own'), `${method} ${path}`);
        }
      }
    }
    const shared = await Promise.all(
      ['quiet-own', 'never-so'].map(async (slug) => told(await asked(url, 'GET', `/${slug}/api/v1/stories`, {}), slug)),
    );
    assert.deepEqual(shared[0], shared[1]);
  });

  await t.test('nothing public names it', async () => {
    for (const path of ['/', '/robots.txt', '/the-open/', '/the-open/llms.txt', '/the-open/api/v1']) {
      assert.doesNotMatch((await send(url, { path })).text, /quiet/, path);
    }
  });

  await t.test('and takes as long', { skip: ONLY_WIDE }, async () => {
    for (const [path, headers] of [
      ['/api/v1/stories', {}],
      ['/api/v1/stories/high-water', {}],
      ['/api/v1/search?q=water', {}],
      ['/api/v1/stories/high-water/proof', { 'x-nrf-key': open.read }],
      ['/', {}],
      ['/rss.xml', {}],
      ['/embed/high-water/', {}],
    ] as [string, Record<string, string>][]) {
      const times: number[][] = [[], []];
      for (let round = 0; round < 250; round++) {
        // One after the other, each first as often: what else the machine does falls on both alike.
        for (const which of round % 2 === 0 ? [0, 1] : [1, 0]) {
          const start = performance.now();
          await asked(url, 'GET', `/${which === 0 ? 'quiet-paper' : 'never-there'}${path}`, headers);
          times[which]?.push(performance.now() - start);
        }
      }
      const [hidden = 0, absent = 0] = times.map(undisturbed);
      assert.ok(hidden < absent * 1.6 && absent < hidden * 1.6, `${path}: ${hidden} ms and ${absent} ms`);
    }
  });

  await t.test('with its own key everything is there, and no cache keeps it', async () => {
    for (const [prefix, headers] of [
      ['/quiet-paper', { authorization: `Bearer ${quiet.read}` }],
      ['/quiet-own', { 'x-nrf-key': own.read }],
      ['', { 'x-nrf-key': own.agent, host: 'quiet-own.example' }],
    ] as [string, Record<string, string>][]) {
      for (const path of [
        '/api/v1',
        '/api/v1/stories',
        '/api/v1/stories/high-water',
        '/api/v1/stories/slack-water',
        '/api/v1/stories/high-water/proof',
        '/api/v1/sections',
        '/api/v1/days',
        '/api/v1/days/2026-11-18',
        '/api/v1/search?q=water',
        '/api/v1/front',
        '/api/v1/cast',
        '/api/v1/posts',
        '/api/v1/masthead',
        '/api/v1/drafts',
        '/api/v1/config',
        '/api/v1/agent',
        '/api/v1/agent/terms',
        '/api/v1/openapi.json',
        '/',
        '/front.json',
        '/rss.xml',
        '/stories/high-water/',
        '/media/art/buoys.svg',
      ]) {
        const { status, headers: about, text } = await send(url, { path: prefix + path, headers });
        assert.equal(status, 200, `${prefix}${path}`);
        assert.equal(about['cache-control'], 'private, no-store', path);
        assert.equal(about.etag, undefined, path);
        assert.ok(text.length > 100, path);
      }
    }
  });

  await t.test('a piece filed there stays there', async () => {
    const headers = { 'x-nrf-key': quiet.admin };
    const body = { ...storyBody('quietly-said'), air: true };
    const filed = await send(url, { method: 'POST', path: '/quiet-paper/api/v1/stories', headers, body });
    assert.equal(filed.status, 201, filed.text);
    assert.equal((await send(url, { path: '/quiet-paper/api/v1/stories/quietly-said', headers })).status, 200);
    for (const path of ['/quiet-paper/api/v1/stories/quietly-said', '/the-open/api/v1/stories/quietly-said']) {
      const { status, text } = await send(url, { path });
      assert.equal(status, 404);
      assert.doesNotMatch(text, /Tides|sentence/);
    }
  });
});

function asked(url: string, method: string, path: string, headers: Record<string, string>): Promise<Answer> {
  return send(url, { method, path, headers, ...(/^P/.test(method) ? { body: {} } : {}) });
}

/** What a caller is told, apart from what every answer has anew, and the address that was asked. */
function told(answer: Answer | undefined, slug: string): unknown {
  assert.ok(answer);
  const { status, headers, text } = answer;
  const { date: _date, 'x-request-id': _id, ...rest } = headers;
  return { status, text: text.replaceAll(slug, '…'), headers: JSON.stringify(rest).replaceAll(slug, '…') };
}

/** Every address of the API, with names for what its template leaves open. */
async function doorsOf(url: string): Promise<string[]> {
  const { paths } = JSON.parse((await send(url, { path: '/the-open/api/v1/openapi.json' })).text);
  const names: Record<string, string> = { id: 'high-water', day: '2026-11-18', slug: 'vera-holm', ticket: '1' };
  return Object.keys(paths).map((path) => path.replace(/\{(\w+)\}/g, (_whole, name: string) => names[name] ?? 'x'));
}

/** What the work itself takes: whatever else the machine does can only add to it, in some rounds more than in others. */
function undisturbed(times: number[]): number {
  return times.sort((a, b) => a - b)[Math.floor(times.length / 10)] ?? 0;
}

test('a withdrawn piece of a private paper is a notice with 410, as on a public one', async (t) => {
  const folder = tempFolder(t);
  const keys = await enterPapers(folder, [{ slug: 'the-open' }, { slug: 'quiet-paper', isPublic: false }]);
  const { url } = await serveHere(t, folder);
  for (const [slug, own] of keys) {
    const headers = { authorization: `Bearer ${own.admin}` };
    const filed = await send(url, {
      method: 'POST',
      path: `/${slug}/api/v1/stories`,
      headers,
      body: { ...storyBody('ebb'), air: true },
    });
    assert.equal(filed.status, 201, filed.text);
    const { id } = (JSON.parse(filed.text) as { story: { id: string } }).story;
    const page = { path: `/${slug}/stories/ebb/`, headers };
    assert.equal((await send(url, page)).status, 200, slug);
    const body = { reason: 'It was wrong.' };
    await send(url, { method: 'DELETE', path: `/${slug}/api/v1/stories/${id}/airing`, headers, body });
    const { status, text } = await send(url, page);
    assert.equal(status, 410, slug);
    assert.match(text, /It was wrong\./);
    assert.match(text, /<meta name="robots" content="[^"]*noindex/);
  }
});
