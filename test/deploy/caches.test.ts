import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, request as forward } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeServiceKey } from '../../src/records/accounts/service-key.ts';
import { newId } from '../../src/shared/new-id.ts';
import { listenTo } from '../support/events.ts';
import { freePort } from '../support/free-port.ts';
import { type Answer, ask } from '../support/http.ts';
import { without } from '../support/log-peers.ts';
import { loopback } from '../support/loopback.ts';
import { paidEnv } from '../support/paid-fixture.ts';
import { probe } from '../support/probes.ts';
import { recordProbes } from '../support/records-fixture.ts';
import { send } from '../support/send.ts';
import { cookieOf } from '../support/signed-in.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { DEPLOY, HOSTS, nginxMain, openStand, PAPERS, type Stand, startProgram } from './fixture.ts';

/** The pieces that are withdrawn, one for each cache: their minutes of Cache-Control are these seconds. */
const WITHDRAWN = ['high-water', 'low-water'];
const [FRESH, OLD] = [1, 4];

/** What a cache asked of the server. */
interface Asked {
  host: string;
  path: string;
  status: number;
}

/**
 * Stands between a cache and the server, writes down what the cache asks for, and shortens for how long it may keep the
 * pieces that are withdrawn: nothing else is changed.
 */
async function hasten(t: TestContext, port: string, asked: Asked[]): Promise<number> {
  const server = createServer((incoming, outgoing) => {
    const { method, url: path = '', headers } = incoming;
    const sent = forward({ port, host: '127.0.0.1', method, path, headers }, (answer) => {
      asked.push({ host: headers.host ?? '', path, status: answer.statusCode ?? 0 });
      const isShort = WITHDRAWN.some((slug) => path.includes(slug));
      const caching = answer.headers['cache-control']?.replace(
        's-maxage=60, stale-while-revalidate=60',
        isShort ? `s-maxage=${FRESH}, stale-while-revalidate=${OLD}` : '$&',
      );
      const given = { ...answer.headers, ...(caching === undefined ? {} : { 'cache-control': caching }) };
      outgoing.writeHead(answer.statusCode ?? 0, given);
      answer.pipe(outgoing);
    });
    sent.on('error', () => outgoing.destroy());
    incoming.pipe(sent);
  });
  return Number(new URL(await loopback(t, server)).port);
}

type Ports = Record<'desk' | 'records', number>;

/** Starts a cache in front of two servers with its configuration of deploy/; returns its address. */
const CACHES: Record<
  string,
  { program: string; start(t: TestContext, folder: string, ports: Ports): Promise<string> }
> = { varnish: { program: 'varnishd', start: startVarnish }, nginx: { program: 'nginx', start: startNginxCache } };

async function startVarnish(t: TestContext, folder: string, ports: Ports): Promise<string> {
  const own = join(folder, 'varnish');
  mkdirSync(own);
  const vcl = readFileSync(join(DEPLOY, 'varnish/broadsheet.vcl'), 'utf8')
    .replace('"4321"', `"${ports.desk}"`)
    .replace('"4322"', `"${ports.records}"`);
  writeFileSync(join(own, 'broadsheet.vcl'), vcl);
  const port = await freePort();
  const args = ['-F', '-j', 'none', '-n', own, '-a', `127.0.0.1:${port}`, '-s', 'malloc,32m'];
  await startProgram(t, folder, { program: 'varnishd', args: [...args, '-f', join(own, 'broadsheet.vcl')], port });
  return `http://127.0.0.1:${port}`;
}

async function startNginxCache(t: TestContext, folder: string, ports: Ports): Promise<string> {
  const own = join(folder, 'nginx');
  mkdirSync(own);
  const port = await freePort();
  const cache = readFileSync(join(DEPLOY, 'nginx/broadsheet-cache.conf'), 'utf8').replace('/var/cache/nginx', own);
  const server = (name: string, target: number) =>
    `server { listen 127.0.0.1:${port}; server_name ${name};
      proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $remote_addr;
      location / { proxy_pass http://127.0.0.1:${target}; } }`;
  const servers = [server(`${HOSTS.desk} ${HOSTS.paper}`, ports.desk), server(HOSTS.records, ports.records)];
  const args = nginxMain(own, [cache, ...servers].join('\n'));
  await startProgram(t, folder, { program: 'nginx', args, port });
  return `http://127.0.0.1:${port}`;
}

/** Requests through one cache. */
interface Through {
  url: string;
  get(host: string, path: string, headers?: Record<string, string>): Promise<Answer>;
  /** Asks twice; how often the cache asked the server for it. */
  twice(host: string, path: string, headers?: Record<string, string>): Promise<{ fetched: number; second: Answer }>;
  /** Waits until no piece that was kept may be given out. */
  outlive(): Promise<void>;
}

const missing = Object.values(CACHES).map(({ program }) => without(program));

test('a cache in front', {
  concurrency: true,
  skip: ONLY_WIDE || (missing.every((why) => why !== false) && missing[0]),
}, async (t) => {
  const stand = await openStand(t, paidEnv('http://127.0.0.1:9', null));
  const { app } = stand;
  const clock = { now: Date.now() - 60_000 };
  for (const address of ['192.0.2.1', '192.0.2.2']) {
    clock.now += 1_000;
    recordProbes(app, clock, [probe('example.org', clock.now, { A: [address] })]);
  }
  const caches = Object.entries(CACHES).map(([name, { start }], at) =>
    t.test(name, { skip: missing[at] ?? false }, async (t) => {
      const asked: Asked[] = [];
      const ports = {
        desk: await hasten(t, stand.ports.desk, asked),
        records: await hasten(t, stand.ports.records, asked),
      };
      const url = await start(t, stand.folder, ports);
      const get: Through['get'] = (host, path, headers = {}) => ask(url, path, { host, ...headers });
      const through: Through = {
        url,
        get,
        async twice(host, path, headers) {
          const of = () => asked.filter((one) => one.host === host && one.path === path).length;
          const before = of();
          await get(host, path, headers);
          const second = await get(host, path, headers);
          return { fetched: of() - before, second };
        },
        outlive: () => sleep((FRESH + OLD + 1) * 1_000),
      };
      await isKept(t, through);
      await isNeverKept(t, stand, through);
      await agesWell(t, stand, through, at);
    }),
  );
  await Promise.all(caches);
});

async function isKept(t: TestContext, { get, twice }: Through): Promise<void> {
  const urls = [
    [HOSTS.desk, `/${PAPERS.shared}/api/v1/stories`],
    [HOSTS.desk, `/${PAPERS.shared}/`],
    [HOSTS.paper, '/api/v1/stories'],
    [HOSTS.paper, '/rss.xml'],
    [HOSTS.records, '/t/example.org'],
    [HOSTS.records, '/v1/tape'],
  ] as const;
  await t.test('answers the second reader by itself, and one who has it with 304', async () => {
    for (const [host, path] of urls) {
      const { fetched, second } = await twice(host, path);
      assert.equal(fetched, 1, `${host}${path}`);
      assert.match(
        second.headers['cache-control'] ?? '',
        /^public, max-age=0, s-maxage=60, stale-while-revalidate=60$/,
      );
      const again = await get(host, path, { 'if-none-match': second.headers.etag ?? '' });
      assert.equal(again.status, 304, `${host}${path}`);
    }
  });

  await t.test('keeps the papers’ hosts, encodings and kinds apart', async () => {
    const own = await get(HOSTS.paper, '/api/v1/stories');
    const shared = await get(HOSTS.desk, `/${PAPERS.shared}/api/v1/stories`);
    assert.deepEqual([JSON.parse(own.text).desk, JSON.parse(shared.text).desk], [PAPERS.domain, PAPERS.shared]);
    const typed = async (accept: string) => (await get(HOSTS.records, '/t/example.org', { accept })).headers;
    assert.match((await typed('text/html'))['content-type'] ?? '', /html/);
    assert.match((await typed('application/json'))['content-type'] ?? '', /json/);
    assert.match((await typed('text/html'))['content-type'] ?? '', /html/);
    const coded = async (coding: string) =>
      (await get(HOSTS.paper, '/', { 'accept-encoding': coding })).headers['content-encoding'];
    assert.ok(['br', 'gzip', undefined].includes(await coded('br')));
    assert.equal(await coded('identity'), undefined);
  });
}

async function isNeverKept(t: TestContext, { app, keys }: Stand, { url, get, twice }: Through): Promise<void> {
  const maker = { keys: app.store.records.serviceKeys, now: app.clock.now, newId, random: randomBytes, by: 'cli' };
  const { key } = makeServiceKey(maker, { account: null, level: 'service', name: 'a cache’s test' });

  await t.test('never keeps the answer to a key, nor gives it the public one', async () => {
    const admin = keys.get(PAPERS.shared)?.admin ?? '';
    const doors = [
      [HOSTS.records, '/v1/domains/example.org', { 'x-service-key': key }],
      [HOSTS.records, '/v1/tape', { 'x-service-key': key }],
      [HOSTS.desk, `/${PAPERS.shared}/api/v1`, { 'x-nrf-key': admin }],
      [HOSTS.desk, `/${PAPERS.shared}/api/v1`, { authorization: `Bearer ${admin}` }],
      [HOSTS.desk, `/${PAPERS.shared}/api/v1/drafts`, { 'x-nrf-key': admin }],
    ] as const;
    for (const [host, path, headers] of doors) {
      await get(host, path);
      const { fetched, second } = await twice(host, path, headers);
      assert.equal(second.status, 200, `${host}${path}`);
      assert.equal(fetched, 2, `${host}${path}`);
      assert.match(second.headers['cache-control'] ?? '', /private, no-store/);
      const others = await get(host, path);
      assert.notEqual(others.headers['cache-control'], 'private, no-store', `${host}${path}`);
    }
  });

  await t.test('passes events on as they come', async () => {
    const stream = await listenTo(url, '/v1/stream?since_seq=0', { host: HOSTS.records, 'x-service-key': key });
    const [first] = await stream.atLeast(1);
    assert.match(first?.data ?? '', /192\.0\.2\.2/);
    stream.hangUp();
  });

  await t.test('never keeps a refusal, a bill, a lookup without a key', async () => {
    const shared = `/${PAPERS.shared}`;
    const refused: readonly (readonly [string, string, number, Record<string, string>?])[] = [
      [HOSTS.desk, `${shared}/api/v1/stories/none`, 404],
      [HOSTS.desk, `${shared}/api/v1/stories?limit=x`, 400],
      [HOSTS.desk, `${shared}/api/v1/drafts`, 401],
      [HOSTS.desk, `${shared}/api/v1`, 401, { 'x-nrf-key': 'nrf_wrong' }],
      [HOSTS.records, '/v1/changes', 402],
      [HOSTS.records, '/v1/stream', 402],
    ];
    for (const [host, path, status, headers] of refused) {
      const { fetched, second } = await twice(host, path, headers);
      assert.deepEqual([second.status, fetched], [status, 2], `${host}${path}`);
    }
    const lookup = await twice(HOSTS.records, '/v1/domains/example.org');
    assert.deepEqual([lookup.second.status, lookup.fetched], [429, 2]);
  });

  await t.test('never keeps a private paper, nor says that there is one', async () => {
    const headers = { 'x-nrf-key': keys.get(PAPERS.secret)?.read ?? '' };
    for (const path of ['/api/v1/stories', '/']) {
      const mine = await twice(HOSTS.desk, `/${PAPERS.secret}${path}`, headers);
      assert.deepEqual([mine.second.status, mine.fetched], [200, 2]);
      assert.match(mine.second.headers['cache-control'] ?? '', /private, no-store/);
      const theirs = await get(HOSTS.desk, `/${PAPERS.secret}${path}`);
      assert.equal(theirs.status, 404);
    }
  });

  await t.test('never caches the page of a signed-in reader', async () => {
    const cookie = cookieOf(app);
    for (const path of ['/', '/t/example.org', '/account']) {
      await get(HOSTS.records, path);
      const { fetched, second } = await twice(HOSTS.records, path, { cookie, accept: 'text/html' });
      assert.deepEqual([second.status, fetched], [200, 2], path);
      assert.match(second.text, /ada@example\.org/, path);
      assert.doesNotMatch((await get(HOSTS.records, path, { accept: 'text/html' })).text, /ada@example\.org/, path);
    }
  });
}

async function agesWell(t: TestContext, { keys, serving }: Stand, through: Through, at: number): Promise<void> {
  const { get, outlive } = through;
  const shared = `/${PAPERS.shared}`;
  const slug = WITHDRAWN[at] ?? '';
  const urls = [`${shared}/api/v1/stories/${slug}`, `${shared}/stories/${slug}/`];
  const statuses = () => Promise.all(urls.map(async (path) => (await get(HOSTS.desk, path)).status));

  await t.test(
    'gives out an old answer once more while it asks for the new one, and never after',
    { skip: ONLY_WIDE },
    async () => {
      assert.deepEqual(await statuses(), [200, 200]);
      const headers = { host: HOSTS.desk, 'x-nrf-key': keys.get(PAPERS.shared)?.admin ?? '' };
      const listed = JSON.parse((await ask(serving.url, urls[0] ?? '', headers)).text);
      const gone = await send(serving.url, {
        method: 'DELETE',
        path: `${shared}/api/v1/stories/${listed.id}/airing`,
        headers,
        body: { reason: 'It was wrong.' },
      });
      assert.equal(gone.status, 200, gone.text);
      await sleep((FRESH + 0.2) * 1_000);
      // Nobody told the cache, whose answers are old now: the next reader gets them, and it asks for new ones meanwhile.
      assert.deepEqual(await statuses(), [200, 200]);
      await outlive();
      assert.deepEqual(await statuses(), [410, 410]);
    },
  );
}
