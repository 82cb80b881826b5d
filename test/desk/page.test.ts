import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { RESERVED_PAGES } from '../../src/desk/door/reserved.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { inReadingOrder, PageBody, pageSlugProblem } from '../../src/desk/papers/page.ts';
import { PATHS } from '../../src/desk/press/feeds/headers.ts';
import { treeOf } from '../support/app-context.ts';
import { deskRoutes } from '../support/desk-routes.ts';
import { paperOf } from '../support/pressed-paper.ts';

/** The first segment of a path without its ending: all that a page's slug could collide with. */
const first = (path: string) => path.replace(/^\//, '').split('/')[0]?.split('.')[0] ?? '';
const isSlug = (name: string) => /^[a-z0-9][a-z0-9-]*$/.test(name);

test('no page may take an address of the pressed tree, the routes or the header policy', async (t) => {
  const { app, folder } = await paperOf(t, 2);
  await pressPapers(app, { full: true });
  const pressed = [...treeOf(join(folder, 'papers', 'harbor-ledger')).keys()];
  assert(pressed.includes('standards/index.html'));
  const routes = (await deskRoutes(app)).map(({ path }) => path.replace('/:paper', ''));
  const used = new Set([...pressed, ...routes, ...Object.keys(PATHS)].map(first).filter(isSlug));
  assert.deepEqual(
    [...used].filter((name) => !RESERVED_PAGES.includes(name)),
    [],
    'RESERVED_PAGES names every address that the paper itself uses',
  );
});

test('an address is refused in one line that says what to do', () => {
  assert.match(pageSlugProblem('stories') ?? '', /^"stories" is an address that the paper itself uses; choose another/);
  for (const slug of ['', 'About', 'a--b', 'über', 'a/b', 'x'.repeat(61)])
    assert.match(pageSlugProblem(slug) ?? '', /cannot be a page's address/, slug);
  assert.equal(pageSlugProblem('about'), null);
});

test('pages are read by order, then by title', () => {
  const page = (slug: string, title: string, order?: number) => ({
    slug,
    ...PageBody.parse({ title, prose: 'x', ...(order === undefined ? {} : { order }) }),
  });
  const pages = [page('c', 'Zebra'), page('a', 'Last', 9), page('b', 'Anchor'), page('d', 'Anchor')];
  assert.deepEqual(
    inReadingOrder(pages).map(({ slug }) => slug),
    ['b', 'd', 'c', 'a'],
  );
});
