import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { airStory, withdrawStory } from '../../src/desk/airing.ts';
import type { Filing } from '../../src/desk/door/piece.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { makePaperKey } from '../../src/desk/papers/paper-keys.ts';
import { pageFrom } from '../../src/desk/papers/record.ts';
import { auditApp } from '../../src/operate/audit/audit.ts';
import { archiveFaults } from '../../src/parts/client/verify/page.ts';
import { deskOf } from '../../src/server/context.ts';
import { Fault, problemsIn } from '../../src/shared/fault.ts';
import { appContextIn, createPaper, filing, PAPER, tempFolder } from '../support/app-context.ts';
import { START } from '../support/pressed-paper.ts';
import { serveHere } from '../support/serve-here.ts';

test('earlier addresses lead to a piece: as pages, in _redirects, and by the server with 301', async (t) => {
  const folder = tempFolder(t);
  const clock = { now: START };
  const app = appContextIn(t, folder, clock);
  createPaper(app);
  const desk = deskOf(app);
  const file = (slug: string, more: Partial<Filing> = {}) => fileStory(desk, PAPER, filing(slug, more), { by: 'cli' });
  const read = (path: string) => readFileSync(join(folder, 'papers', PAPER, path), 'utf8');
  const has = (path: string) => existsSync(join(folder, 'papers', PAPER, path));

  file('ferries', { aliases: ['/2019/05/ferries', '/old.html', '/café/über'] });
  file('draft', { aliases: ['/draft-place'] });
  airStory(desk, PAPER, 'ferries', { by: 'cli', at: START });
  await pressPapers(app);
  const root = `http://localhost:4321/${PAPER}`;
  for (const path of ['2019/05/ferries/index.html', 'old.html', 'café/über/index.html']) {
    const page = read(path);
    assert.match(page, /<link rel="canonical" href="[^"]*\/stories\/ferries\/">/);
    assert.match(page, /<meta http-equiv="refresh" content="0; url=[^"]*\/stories\/ferries\/">/);
  }
  assert.equal(has('draft-place/index.html'), false, 'a draft has no page to lead to');
  const lines = read('_redirects').trim().split('\n');
  assert.ok(lines.includes(`/${PAPER}/old.html /${PAPER}/stories/ferries/ 301`), root);
  assert.ok(lines.includes(`/${PAPER}/caf%C3%A9/%C3%BCber/ /${PAPER}/stories/ferries/ 301`));
  assert.equal(lines.length, 5);

  // An address moves to another piece, and another goes.
  clock.now += 1_000;
  file('ferries', { aliases: ['/old.html'], prose: filing('ferries').prose });
  file('other', { aliases: ['/2019/05/ferries'] });
  airStory(desk, PAPER, 'other', { by: 'cli' });
  await pressPapers(app);
  assert.match(read('2019/05/ferries/index.html'), /\/stories\/other\//);
  assert.equal(has('café/über/index.html'), false);
  assert.equal(read('_redirects').trim().split('\n').length, 3);
  const { faults } = await auditApp(app, {});
  assert.deepEqual(faults, []);

  // A withdrawn piece keeps its addresses: they lead to its notice.
  clock.now += 1_000;
  withdrawStory(desk, PAPER, 'other', { by: 'cli', reason: 'It was wrong.' });
  await pressPapers(app);
  assert.ok(has('2019/05/ferries/index.html'));
  app.close();

  const { url } = await serveHere(t, folder);
  const get = async (path: string) => {
    const answer = await fetch(`${url}/${PAPER}${path}`, { redirect: 'manual' });
    return [answer.status, answer.headers.get('location')?.replace(url, '') ?? null];
  };
  const to = (slug: string) => [301, `/${PAPER}/stories/${slug}/`];
  for (const path of ['/old.html', '/old.html/']) assert.deepEqual(await get(path), to('ferries'));
  for (const path of ['/2019/05/ferries', '/2019/05/ferries/', '/2019/05/ferries/index.html', '/2019/05/f%65rries/']) {
    assert.deepEqual(await get(path), to('other'));
  }
  assert.equal((await get('/stories/ferries/'))[0], 200);
  assert.equal((await get('/draft-place/'))[0], 404);
  assert.equal((await get('/_redirects'))[0], 404);
});

test('a private paper redirects its key from earlier addresses, and nobody else', async (t) => {
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, { now: START });
  createPaper(app, { paper_public: false });
  const desk = deskOf(app);
  fileStory(desk, PAPER, filing('ferries', { aliases: ['/2019/05/ferries'] }), { by: 'cli' });
  airStory(desk, PAPER, 'ferries', { by: 'cli', at: START });
  const secret = makePaperKey(app, PAPER, { level: 'read', name: 'reader' }).key;
  app.close();
  const { url } = await serveHere(t, folder);
  const get = async (headers: Record<string, string>) => {
    const answer = await fetch(`${url}/${PAPER}/2019/05/ferries/`, { redirect: 'manual', headers });
    return [answer.status, answer.headers.get('location'), answer.headers.get('cache-control')];
  };
  assert.deepEqual(await get({ 'X-NRF-Key': secret }), [301, `/${PAPER}/stories/ferries/`, 'private, no-store']);
  assert.equal((await get({}))[0], 404);
});

test('an address of the paper, of a page or of another piece leads to no piece', (t) => {
  const app = appContextIn(t, tempFolder(t), { now: START });
  createPaper(app);
  const desk = deskOf(app);
  fileStory(desk, PAPER, filing('taken', { aliases: ['/2019/taken'] }), { by: 'cli' });
  const rules = (aliases: string[]): string[] => {
    try {
      fileStory(desk, PAPER, filing('new', { aliases }), { by: 'cli' });
      return [];
    } catch (error) {
      assert.ok(error instanceof Fault);
      return (problemsIn(error) ?? []).map(({ field, rule }) => `${field} ${rule}`);
    }
  };
  for (const alias of [
    '/stories/new',
    '/stories/taken',
    '/feed',
    '/rss.xml',
    '/media/x.png',
    '/api/v1',
    '/_headers',
    '/index.html',
    '/Tags/x',
    '/log',
  ]) {
    assert.deepEqual(rules([alias]), ['aliases[0] alias_reserved'], alias);
  }
  for (const alias of [
    '',
    '/',
    'x',
    '//x',
    '/a//b',
    '/../x',
    '/a/./b',
    '/.well-known/x',
    '/a b',
    '/a?b',
    '/a#b',
    '/a\\b',
    '/a*',
    '/:a',
    `/${'x'.repeat(301)}`,
    '/a.html/b',
    '/a\u0000',
    '/a\u202eb',
    'https://x.example/a',
  ]) {
    assert.deepEqual(rules([alias]), ['aliases[0] alias_form'], alias);
  }
  assert.deepEqual(rules(['/2019/taken']), ['aliases[0] alias_taken']);
  assert.deepEqual(rules(Array.from({ length: 21 }, (_, n) => `/a/${n}`)), ['aliases too_many']);
  assert.deepEqual(rules(['/2019/new']), []);
  // A page of the paper's own does not take it over, nor does a piece take that of a page.
  const body = { title: 'About', description: '', nav: 'footer' as const, order: 0, prose: 'Us.' };
  fileStory(desk, PAPER, filing('moved', { aliases: ['/about'] }), { by: 'cli' });
  assert.throws(() => pageFrom(app.store.desk.archive(PAPER), 'about', body), /about.*leads there/);
});

test('a piece from an archive is marked wherever it is shown whole', async (t) => {
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, { now: START });
  createPaper(app);
  const desk = deskOf(app);
  const uncited = { cited_facts: [], prose: 'A text.' };
  fileStory(desk, PAPER, filing('old', { ...uncited, provenance: 'archive', authors: [{ name: 'Ann Lee' }] }), {
    by: 'cli',
  });
  fileStory(desk, PAPER, filing('own'), { by: 'cli' });
  airStory(desk, PAPER, 'own', { by: 'cli', at: START });
  const read = (path: string) => readFileSync(join(folder, 'papers', PAPER, path), 'utf8');
  // While no piece from an archive is on air, the head of the front says that all cite their sources.
  const head = () =>
    read('index.html')
      .replace(/<[^>]+>|\s+/g, ' ')
      .replace(/\s+/g, ' ');
  await pressPapers(app);
  assert.match(head(), /Written by declared AI.personas.*Every piece sourced and signed/);
  for (const at of [{}, { at: START + 1_000 }]) {
    assert.throws(
      () => airStory(desk, PAPER, 'old', { by: 'key:x', ...at }),
      /goes on air at the time at which it was first published/,
    );
  }
  airStory(desk, PAPER, 'old', { by: 'cli', at: START - 86_400_000 });
  await pressPapers(app);
  const promise = /Run by declared AI.personas.*Every piece signed/;
  assert.match(head(), promise);
  const mark = 'From the archive, not checked by this desk’s rules.';
  for (const path of ['stories/old/index.html', 'stories/old.md', 'embed/old/index.html'])
    assert.ok(read(path).includes(mark), path);
  for (const path of ['stories/own/index.html', 'stories/own.md', 'embed/own/index.html'])
    assert.ok(!read(path).includes(mark), path);
  assert.equal(parse(read('stories/old.md').split('---')[1] ?? '').provenance, 'archive');
  assert.equal(read('rss.xml').split(mark).length, 2);
  const feed = JSON.parse(read('feed.json')) as { items: { url: string; content_html: string; _broadsheet: object }[] };
  assert.deepEqual(
    feed.items.map(({ url, content_html, _broadsheet }) => [
      /(\w+)\/$/.exec(url)?.[1],
      content_html.includes(mark),
      'provenance' in _broadsheet,
    ]),
    [
      ['own', false, false],
      ['old', true, true],
    ],
  );
  const data = JSON.parse(
    /<script type="application\/ld\+json">(.*?)<\/script>/s.exec(read('stories/old/index.html'))?.[1] ?? '',
  );
  assert.deepEqual([data.digitalSourceType, data.creativeWorkStatus], [undefined, mark]);
  // The check in a reader's browser finds the mark in the heading, and compares it with what was signed.
  assert.match(
    read('stories/old/index.html'),
    /<header class="heading">(?:(?!<\/header>).)*<p class="archive" role="note"/s,
  );
  assert.deepEqual([archiveFaults(mark, { provenance: 'archive' }), archiveFaults('', {})], [[], []]);
  assert.match(
    archiveFaults('', { provenance: 'archive' }).join(),
    /^The proof says that the piece is from an archive/,
  );
  assert.match(archiveFaults(mark, {}).join(), /^This page says that the piece is from an archive/);
  // It returns after a withdrawal without being cited.
  withdrawStory(desk, PAPER, 'old', { by: 'cli', reason: 'A mistake.' });
  await pressPapers(app);
  assert.match(head(), promise, 'what was once on air is remembered');
  assert.deepEqual((await auditApp(app, {})).faults, []);
  airStory(desk, PAPER, 'old', { by: 'cli' });
  assert.equal(app.store.desk.archive(PAPER).storyBySlug('old')?.state, 'on_air');
});
