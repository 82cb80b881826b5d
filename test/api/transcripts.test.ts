import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { newKey } from '../../src/desk/papers/keys.ts';
import { tempFolder } from '../support/app-context.ts';
import type { Answer } from '../support/http.ts';
import { answerTo, lyingServer } from '../support/lying-server.ts';
import { send } from '../support/send.ts';
import { serveHere } from '../support/serve-here.ts';
import { enterPapers } from '../support/small-papers.ts';
import { type Exchange, type Lane, play, readTranscript } from '../support/transcript.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const FOLDER = fileURLToPath(new URL('../transcripts', import.meta.url));
/** Those of the records and of the host itself are played by tests of their own. */
const THEMES = readdirSync(FOLDER).flatMap((file) =>
  /^(?:records-|host)/.test(file) ? [] : file.replace(/\.txt$/, ''),
);

/** Those that a push plays on a paper's own domain as well: one that reads and one that writes. */
const OWN = ONLY_WIDE === false ? THEMES : ['index', 'stories'];

/** Doors whose answers have tests of their own: what readers order and what other sites show. */
const ELSEWHERE = /^\/(oembed|embed\/|api\/v1\/(subscribers|webhooks|deliveries))/;

test('every route matches its transcript, on the shared host and on a paper’s own domain', async (t) => {
  const folder = tempFolder(t);
  const papers = THEMES.flatMap((theme) =>
    [`of-${theme}`, ...(OWN.includes(theme) ? [`of-${theme}-own`] : [])].map((slug) => ({
      slug,
      url: `http://${slug}.example`,
    })),
  );
  const keys = await enterPapers(folder, [...papers, { slug: 'the-other' }]);
  // No name has a record that proves it.
  const names = await lyingServer(t, (heard) => [answerTo(heard, { rcode: 3 })]);
  const { url } = await serveHere(t, folder, { RESOLVERS: `${names.address}:${names.port}` });
  const played: Exchange[] = [];

  for (const { slug, url: root } of papers) {
    const isOwn = slug.endsWith('-own');
    const own = keys.get(slug);
    assert.ok(own);
    const served = isOwn ? root : `${url}/${slug}`;
    const words = {
      ...own,
      root,
      served,
      paper: slug,
      other: keys.get('the-other')?.read ?? '',
      others: papers.find((paper) => paper.slug !== slug)?.url ?? '',
      slip: slipped(own.read),
      stranger: newKey(randomBytes),
      revoked: await revokedKey(url, slug, own.admin),
      version: await versionOf(url, slug, own.read),
      long: 'x'.repeat(1_100_000),
    };
    const lane: Lane = isOwn
      ? { url, prefix: '', host: new URL(root).host, words }
      : { url, prefix: `/${slug}`, words };
    const theme = slug.replace(/^of-|-own$/g, '');
    await t.test(`${theme}, ${isOwn ? 'on its own domain' : 'on the shared host'}`, async (t) => {
      for (const exchange of readTranscript(join(FOLDER, `${theme}.txt`))) {
        await t.test(`${theme}.txt:${exchange.line} ${exchange.method} ${exchange.path}`, async () => {
          const answer = await play(exchange, lane);
          assertCareful(exchange, answer);
          played.push(exchange);
        });
      }
    });
  }

  for (const exchange of readTranscript(join(FOLDER, 'host.txt'))) {
    await t.test(`host.txt:${exchange.line} ${exchange.method} ${exchange.path}`, async () => {
      assertCareful(exchange, await play(exchange, { url, prefix: '', words: {} }));
    });
  }

  await t.test('every operation of the OpenAPI document and its errors are covered', async () => {
    const { paths } = JSON.parse((await send(url, { path: '/the-other/api/v1/openapi.json' })).text);
    for (const [path, operations] of Object.entries<Record<string, { security?: object[] }>>(paths)) {
      if (ELSEWHERE.test(path)) continue;
      const form = new RegExp(`^${path.replace(/\{\w+\}/g, '(?!accept$)[^/?]+')}(\\?|$)`);
      for (const [method, { security = [] }] of Object.entries(operations)) {
        const of = played.filter((one) => one.method === method.toUpperCase() && form.test(one.path));
        const statuses = new Set(of.map(({ status }) => status));
        assert.ok(
          [200, 201].some((status) => statuses.has(status)),
          `${method} ${path} is played`,
        );
        const isKeyed = security.every((way) => Object.keys(way).length > 0);
        if (isKeyed) assert.ok(statuses.has(401), `${method} ${path} is played without a key`);
        if (isKeyed && method !== 'get') assert.ok(statuses.has(403), `${method} ${path} is played with too low a key`);
      }
    }
  });
});

/** What holds of every answer (protocol 8). */
function assertCareful(exchange: Exchange, { status, headers, text }: Answer): void {
  assert.match(String(headers['x-request-id']), /^[0-9a-f-]{36}$/);
  assert.doesNotMatch(text, /\bat .+\.[mc]?[jt]s:\d+|node_modules|SQLITE/);
  if (!exchange.path.startsWith('/api')) return;
  assert.equal(headers['access-control-allow-origin'], '*');
  const isKeyed = exchange.headers.some(([name]) => /^(authorization|x-nrf-key)$/i.test(name));
  if (status >= 400) assert.equal(headers['cache-control'], 'no-store');
  else if (isKeyed) assert.equal(headers['cache-control'], 'private, no-store');
  if (exchange.method === 'HEAD' || status === 304) assert.equal(text, '');
  if (status < 400 || exchange.method === 'HEAD') return;
  const { error, message } = JSON.parse(text) as { error: string; message: string };
  assert.match(error, /^[a-z_]+$/);
  assert.ok(message.length > 10 && message.length < 1_000, message);
}

function slipped(key: string): string {
  return `${key.slice(0, 12)}${key[12] === 'A' ? 'B' : 'A'}${key.slice(13)}`;
}

async function revokedKey(url: string, paper: string, admin: string): Promise<string> {
  const headers = { 'x-nrf-key': admin };
  const path = `/${paper}/api/v1/keys`;
  const made = await send(url, { method: 'POST', path, headers, body: { level: 'read', name: 'A key to be revoked' } });
  const { id, key } = JSON.parse(made.text);
  assert.equal((await send(url, { method: 'DELETE', path: `${path}/${id}`, headers })).status, 200);
  return key;
}

async function versionOf(url: string, paper: string, read: string): Promise<string> {
  const { text } = await send(url, { path: `/${paper}/api/v1/agent/terms`, headers: { 'x-nrf-key': read } });
  return JSON.parse(text).version;
}
