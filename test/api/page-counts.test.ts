import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countedPage, PAGES_MAX, readCounts } from '../../src/desk/page-counts.ts';
import { DAY, dayOf } from '../../src/proof/time.ts';
import { openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { appContextIn, envIn, tempFolder } from '../support/app-context.ts';
import { send } from '../support/send.ts';
import { serveHere } from '../support/serve-here.ts';
import { enterPapers } from '../support/small-papers.ts';

test('pages that a browser opens are counted, and nothing else is', async (t) => {
  const folder = tempFolder(t);
  const keys = await enterPapers(folder, [{ slug: 'tides' }]);
  const { url, stop } = await serveHere(t, folder, { PAGE_COUNTS: 'on', SERVICES: 'desk' });
  const opened = { 'sec-fetch-dest': 'document' };
  const get = (path: string, headers: Record<string, string> = opened, method = 'GET') =>
    send(url, { path: `/tides${path}`, method, headers });
  const front = await get('/');
  assert.equal(front.status, 200);
  await get('/?from=a-letter');
  await get('/stories/high-water/');
  await get('/sections/tides/');
  await get('/masthead/');
  // Programs, checks of what is cached, pages fetched ahead, frames, files, missing and moved pages.
  await get('/', {});
  await get('/', opened, 'HEAD');
  assert.equal((await get('/', { ...opened, 'if-none-match': String(front.headers.etag) })).status, 304);
  await get('/', { ...opened, 'sec-purpose': 'prefetch' });
  await get('/', { 'sec-fetch-dest': 'iframe' });
  await get('/rss.xml');
  assert.equal((await get('/nowhere/')).status, 404);
  assert.equal((await get('/stories/high-water')).status, 301);
  const read = await send(url, {
    path: '/tides/api/v1/counts',
    headers: { 'x-nrf-key': keys.get('tides')?.read ?? '' },
  });
  assert.equal((JSON.parse(read.text) as { counting: boolean }).counting, true);
  await stop();

  const app = openAppContext(readSettings(envIn(folder)));
  t.after(() => app.close());
  const id = app.store.desk.archive('tides').storyBySlug('high-water')?.id ?? '';
  const story = { slug: 'high-water', title: app.store.desk.archive('tides').storyById(id)?.headline, state: 'on_air' };
  const none = { slug: null, title: null, state: null };
  const counts = readCounts(app.store.desk.pageCounts, 'tides', { days: 2, now: Date.now() });
  assert.equal(
    counts.days.reduce((sum, { reads }) => sum + reads, 0),
    5,
  );
  assert.deepEqual(counts.kinds, [
    { kind: 'front', reads: 2 },
    { kind: 'page', reads: 1 },
    { kind: 'piece', reads: 1 },
    { kind: 'section', reads: 1 },
  ]);
  assert.deepEqual(counts.pages, [
    { kind: 'front', id: '', reads: 2, ...none },
    { kind: 'page', id: 'masthead', reads: 1, ...none },
    { kind: 'piece', id, reads: 1, ...story },
    { kind: 'section', id: 'tides', reads: 1, ...none },
  ]);
});

test('a day has a bounded number of rows, and two servers add to the same', (t) => {
  const clock = { now: Date.parse('2026-11-20T12:00:00Z') };
  const folder = tempFolder(t);
  const { pageCounts } = appContextIn(t, folder, clock).store.desk;
  const other = appContextIn(t, folder, clock).store.desk.pageCounts;
  const day = dayOf(clock.now);
  const rows = Array.from({ length: PAGES_MAX + 10 }, (_, n) => ({
    paper: 'p',
    day,
    kind: 'day' as const,
    page: `${n}`,
    reads: 1,
  }));
  pageCounts.add(rows);
  other.add(rows);
  const { days, kinds } = readCounts(pageCounts, 'p', { days: 1, now: clock.now });
  assert.deepEqual(days, [{ day, reads: 2 * (PAGES_MAX + 10) }]);
  assert.deepEqual(kinds, [{ kind: 'day', reads: 2 * (PAGES_MAX + 10) }]);
  assert.deepEqual(pageCounts.pages('p', day, PAGES_MAX * 2).length, PAGES_MAX + 1);
  assert.deepEqual(
    pageCounts.pages('p', day, 1).map(({ page, reads }) => [page, reads]),
    [['', 20]],
  );
  assert.deepEqual(pageCounts.days('p', dayOf(clock.now + DAY)), []);
});

test('a file of the tree is the page that it is', () => {
  const pieceOf = (slug: string) => (slug === 'a' ? 'id-of-a' : null);
  const of = (file: string) => {
    const found = countedPage(file, pieceOf);
    return found === null ? null : `${found.kind} ${found.page}`;
  };
  assert.deepEqual(
    [
      '/index.html',
      '/stories/a/index.html',
      '/stories/b/index.html',
      '/sections/x/3/index.html',
      '/days/index.html',
    ].map(of),
    ['front ', 'piece id-of-a', null, 'section x', 'page days'],
  );
  assert.deepEqual(
    [
      '/about/index.html',
      '/cast/2026-11-20/index.html',
      '/embed/a/index.html',
      '/404.html',
      '/rss.xml',
      '/tags/t/index.html',
    ].map(of),
    ['page about', 'cast 2026-11-20', null, null, null, 'tag t'],
  );
});
