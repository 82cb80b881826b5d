import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import pino from 'pino';
import { KeyUses } from '../../api/middleware/key-uses.ts';
import { withoutSecrets } from '../../api/middleware/log.ts';
import { deskRouter } from '../../api/server.ts';
import { PressQueue } from '../../src/desk/jobs/press-queue.ts';
import { PREVIEW_LIFE, PREVIEWS_MAX } from '../../src/desk/papers/preview-link.ts';
import { DAY } from '../../src/proof/time.ts';
import { openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { databaseFile } from '../../src/shared/files/data-folder.ts';
import { envIn, tempFolder } from '../support/app-context.ts';
import { enterPapers, type Keys, storyBody } from '../support/small-papers.ts';

const START = Date.now();

async function desk(t: TestContext) {
  const folder = tempFolder(t);
  const keys = await enterPapers(folder, [{ slug: 'tides' }, { slug: 'quiet', isPublic: false }]);
  const clock = { now: START };
  const app = openAppContext(readSettings(envIn(folder)), () => clock.now);
  const uses = new KeyUses(app.store.desk.keys, assert.ifError);
  t.after(() => {
    uses.close();
    app.close();
  });
  const router = await deskRouter({ app, presses: new PressQueue(app), logger: pino({ level: 'silent' }) }, uses);
  const ask = async (
    path: string,
    { key, method = 'GET', body }: { key?: string; method?: string; body?: unknown } = {},
  ) => {
    const headers: Record<string, string> = { ...(key === undefined ? {} : { 'x-nrf-key': key }) };
    if (body !== undefined) headers['content-type'] = 'application/json';
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const init = { method, headers, ...(text === undefined ? {} : { body: text as string }) };
    const response = await router.fetch(new Request(new URL(path, app.settings.origin), init), {
      incoming: { headers: {}, rawHeaders: [], socket: { remoteAddress: '127.0.0.1' } },
      outgoing: { headersSent: false },
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const link = async (paper: string, slug: string, key: string) => {
    const { status, text, headers } = await ask(`/${paper}/api/v1/stories/${slug}/preview`, { key });
    assert.equal(status, 200, text);
    assert.match(String(headers.get('cache-control')), /private, no-store/);
    const { url, expires_at } = JSON.parse(text) as { url: string; expires_at: string };
    return { path: new URL(url).pathname, expires_at };
  };
  const of = (paper: string): Keys => keys.get(paper) ?? assert.fail();
  return { folder, clock, app, ask, link, of };
}

test('a preview shows the subscribe form, which sends nothing', async (t) => {
  const { ask, of } = await desk(t);
  const body = { ...storyBody('boxed'), prose: 'One.[^1] Two.[^2]\n\n::subscribe\n\nhttps://linked.example/' };
  const { text } = await ask('/tides/api/v1/preview', { key: of('tides').admin, method: 'POST', body });
  const { html } = JSON.parse(text) as { html: string };
  assert.match(html, /<input id="email"[^>]* disabled>/);
  assert.match(html, /<button type="submit" disabled>/);
  assert.ok(!html.includes('/subscribe.') && html.includes('<p>https://linked.example/</p>'));
});

test('anyone with a preview link can open a draft’s page until the piece goes on air', async (t) => {
  const { folder, clock, app, ask, link, of } = await desk(t);
  for (const paper of ['tides', 'quiet']) {
    const { read, admin } = of(paper);
    const image = 'media/art/buoys.svg';
    const filed = await ask(`/${paper}/api/v1/stories`, {
      key: admin,
      method: 'POST',
      body: { ...storyBody('the-draft'), headline: 'A draft <of> ours', image: { src: image, alt: 'Buoys' } },
    });
    assert.equal(filed.status, 201, filed.text);
    const { path, expires_at } = await link(paper, 'the-draft', read);
    assert.match(path, new RegExp(`^/${paper}/preview/[\\w-]{43}/$`));
    assert.equal(expires_at, new Date(START + PREVIEW_LIFE).toISOString());
    const secret = path.split('/')[3] ?? '';
    const page = await ask(path);
    assert.equal(page.status, 200, page.text);
    for (const [name, value] of [
      ['cache-control', 'private, no-store'],
      ['referrer-policy', 'no-referrer'],
      ['x-robots-tag', 'noindex, nofollow, noarchive'],
    ] as const)
      assert.equal(page.headers.get(name), value, name);
    assert.ok(String(page.headers.get('content-security-policy')).includes("default-src 'none'"));
    for (const words of ['A draft &lt;of&gt; ours', 'Preview: not published', 'name="robots" content="noindex"'])
      assert.ok(page.text.includes(words), words);
    for (const word of ['oembed', 'proof.json', 'ld+json', 'og:image"']) assert.ok(!page.text.includes(word), word);
    // Everything that the page loads is there, also of a paper that exists for nobody without a key.
    const loaded = [
      ...page.text.matchAll(/<(?:img|script|link rel="(?:stylesheet|icon|preload)")[^>]* (?:href|src)="([^"]+)"/g),
    ].map(([, address = '']) => address);
    assert.ok(loaded.includes(`${path}${image}`), loaded.join());
    for (const address of loaded) {
      const { status, headers } = await ask(address);
      assert.equal(status, 200, address);
      assert.equal(headers.get('cache-control'), 'private, no-store', address);
    }
    for (const other of ['media/cast/2026-11-16.mp4', 'portraits/ibo-sand.png'])
      assert.equal((await ask(`${path}${other}`)).status, 404, `${other} is not on the page`);
    assert.equal(
      (await ask(`${path}sections/tides/`)).headers.get('location'),
      `${app.settings.origin}/${paper}/sections/tides/`,
    );
    assert.ok(new URL((await ask(path.slice(0, -1))).headers.get('location') ?? '').pathname.endsWith(`${secret}/`));
    assert.equal(
      page.text.includes('What low water means'),
      paper === 'tides',
      'other pieces of a private paper stay hidden',
    );

    // The newest revision, then the page itself.
    const revised = {
      ...storyBody('the-draft'),
      headline: 'Revised',
      revision: 1,
      air: new Date(clock.now + DAY).toISOString(),
    };
    const put = await ask(`/${paper}/api/v1/stories/the-draft`, { key: admin, method: 'PUT', body: revised });
    assert.equal(put.status, 200, put.text);
    assert.match((await ask(path)).text, /<h1[^>]*>Revised</);
    const aired = await ask(`/${paper}/api/v1/stories/the-draft/airing`, { key: admin, method: 'POST' });
    assert.equal(aired.status, 200, aired.text);
    const after = await ask(path);
    assert.deepEqual(
      [after.status, after.headers.get('location'), after.headers.get('referrer-policy')],
      [302, `${app.settings.origin}/${paper}/stories/the-draft/`, 'no-referrer'],
    );
    const onAir = await ask(`/${paper}/api/v1/stories/the-draft/preview`, { key: read });
    assert.deepEqual([onAir.status, JSON.parse(onAir.text).error], [409, 'conflict']);
    await ask(`/${paper}/api/v1/stories/the-draft/airing`, {
      key: admin,
      method: 'DELETE',
      body: { reason: 'Wrong.' },
    });
    assert.equal((await ask(path)).status, 302, 'the notice is the piece’s page');
    assert.equal((await ask(`/${paper}/api/v1/stories/the-draft/preview`, { key: read })).status, 410);
    const bytes = readFileSync(join(folder, 'var/broadsheet.db'));
    assert.ok(!bytes.includes(secret), 'only a hash is kept');
    assert.equal(withoutSecrets(path), `/${paper}/preview/{secret}/`);
  }
});

test('a preview link ends with its time, its key, and the hundredth after it', async (t) => {
  const { clock, app, ask, link, of } = await desk(t);
  const { read, agent, admin } = of('tides');
  const dead = async (path: string, why: string) => {
    const { status, headers, text } = await ask(path);
    assert.equal(status, 404, why);
    assert.match(String(headers.get('cache-control')), /no-store/, why);
    assert.ok(!text.includes('slack'), why);
  };
  const { path } = await link('tides', 'slack-water', read);
  const secret = path.split('/')[3] ?? '';
  await dead(path.replace('/tides/', '/quiet/'), 'another paper');
  await dead(path.replace(secret, secret.slice(1)), 'shortened');
  await dead(path.replace(secret, 'A'.repeat(43)), 'guessed');
  await dead('/tides/preview/%ff/', 'not text');
  clock.now = START + PREVIEW_LIFE - 1;
  assert.equal((await ask(path)).status, 200);
  clock.now = START + PREVIEW_LIFE;
  await dead(path, 'expired');
  clock.now = START - DAY;
  await dead(path, 'expired, and the clock set back');
  clock.now = START;

  const byAgent = await link('tides', 'slack-water', agent);
  const key = app.store.desk.keys.list('tides').find(({ level }) => level === 'agent') ?? assert.fail();
  const revoked = await ask(`/tides/api/v1/keys/${key.id}`, { key: admin, method: 'DELETE' });
  assert.ok(revoked.status < 300, revoked.text);
  await dead(byAgent.path, 'its key is revoked');

  const first = await link('tides', 'slack-water', read);
  const many = await Promise.all(Array.from({ length: PREVIEWS_MAX }, () => link('tides', 'slack-water', read)));
  assert.equal(new Set(many.map((one) => one.path)).size, PREVIEWS_MAX);
  await dead(first.path, 'the oldest of too many');
  const pages = await Promise.all(many.slice(0, 50).map((one) => ask(one.path)));
  assert.deepEqual([...new Set(pages.map(({ status }) => status))], [200]);

  for (const [key, status, error] of [
    [undefined, 401, 'key_required'],
    [of('quiet').admin, 403, 'wrong_paper'],
    [`${read}x`, 401, 'key_invalid'],
  ] as const) {
    const answer = await ask('/tides/api/v1/stories/slack-water/preview', key === undefined ? {} : { key });
    assert.deepEqual([answer.status, JSON.parse(answer.text).error], [status, error]);
  }
  const none = await ask('/tides/api/v1/stories/nothing/preview', { key: read });
  assert.deepEqual([none.status, JSON.parse(none.text).error], [404, 'not_found']);
});

test('POST /preview judges and renders any body, and stores nothing', async (t) => {
  const { app, ask, of } = await desk(t);
  const { read, agent, admin } = of('tides');
  const digest = () => {
    const db = new DatabaseSync(databaseFile(app.settings), { readOnly: true });
    const tables = ['answers', 'generations', 'pieces', 'entries', 'previews', 'searched'];
    const counts = tables.map((table) => db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n);
    db.close();
    return counts;
  };
  const before = digest();
  const preview = async (body: unknown, key = agent) => {
    const { status, text } = await ask('/tides/api/v1/preview', { key, method: 'POST', body });
    assert.equal(status, 200, text.slice(0, 300));
    return JSON.parse(text) as { problems: { field: string; rule: string; offset?: number }[]; html: string };
  };
  const good = await preview({ ...storyBody('fresh'), image: { src: 'media/art/buoys.svg', alt: 'Buoys' }, air: true });
  assert.deepEqual(good.problems, []);
  assert.match(good.html, /<h1[^>]*>What fresh means</);
  assert.ok(good.html.includes(`src="${app.settings.origin}/tides/media/art/buoys.svg"`), 'addresses are absolute');
  assert.ok(!/ (?:href|src)="\/(?!\/)/.test(good.html), 'all of them');
  assert.ok(good.html.includes('Preview: not published'));

  const bad = await preview({
    headline: 7,
    dek: 'x'.repeat(2_000),
    category: 'Nowhere',
    byline: 'nobody',
    prose: 'A <script>alert(1)</script> tag.[^9]\u0000 And an end.',
    cited_facts: [{ statement: 'One', source: '', instrument: 'javascript:alert(1)' }, 'what'],
    colour: 'blue',
  });
  assert.ok(bad.problems.some(({ field, rule }) => field === 'headline' && rule === 'wrong_type'));
  assert.ok(bad.html.includes('And an end.') && !bad.html.includes('<script>alert'));
  assert.ok(!bad.html.includes('href="javascript:'));
  const door = await preview({ ...storyBody('fresh'), prose: 'No <b>HTML</b>.[^1] And [^2] so.', category: 'Nowhere' });
  assert.deepEqual(door.problems.map(({ field, rule }) => `${field} ${rule}`).sort(), [
    'category unknown_section',
    'prose raw_html',
    'prose raw_html',
  ]);
  assert.ok(door.problems.some(({ offset }) => offset === 3));
  assert.deepEqual((await preview({})).problems.length, 6);
  for (const prose of [
    '['.repeat(300_000),
    `${'*a **b '.repeat(40_000)}`,
    '>'.repeat(100_000),
    'a\u0301'.repeat(100_000),
    'x'.repeat(600_000),
  ]) {
    const { html } = await preview({ ...storyBody('heavy'), prose });
    assert.ok(html.includes('What heavy means'));
  }
  const marked = await preview({ ...storyBody('heavy'), prose: 'So.[^1] '.repeat(20_000) });
  assert.ok(marked.problems.some(({ rule }) => rule === 'too_many'));
  assert.ok(marked.html.split('So.').length < 6_000, 'what is shown is bounded');
  const fifty = await Promise.all(Array.from({ length: 50 }, (_, n) => preview({ ...storyBody(`n-${n}`) })));
  assert.ok(fifty.every(({ html, problems }, n) => problems.length === 0 && html.includes(`What n ${n} means`)));
  const existing = await preview({ ...storyBody('high-water'), headline: 'Higher' }, admin);
  assert.deepEqual(existing.problems, [], 'a revision');

  for (const [key, body, status, error] of [
    [undefined, {}, 401, 'key_required'],
    [read, {}, 403, 'level_too_low'],
    [agent, '[1]', 400, 'invalid_request'],
    [agent, '{', 400, 'invalid_request'],
    [agent, { prose: 'x'.repeat(1_100_000) }, 413, 'too_large'],
  ] as const) {
    const answer = await ask('/tides/api/v1/preview', { ...(key === undefined ? {} : { key }), method: 'POST', body });
    assert.deepEqual([answer.status, JSON.parse(answer.text).error], [status, error]);
  }
  assert.deepEqual(digest(), before);
  assert.equal(app.store.desk.archive('tides').storyBySlug('fresh'), null);
});
