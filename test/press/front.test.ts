import assert from 'node:assert/strict';
import { test } from 'node:test';
import { append } from '../../src/desk/append.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { PaperBody } from '../../src/desk/papers/paper.ts';
import { Edition } from '../../src/desk/press/edition.ts';
import { composeSections, excerptOf, frontView } from '../../src/desk/press/outputs/front.ts';
import type { RowView } from '../../src/desk/press/views.ts';
import { shapeProblems } from '../../src/shared/shape.ts';
import { PAPER, treeOf } from '../support/app-context.ts';
import { assertSameTree, fullPress } from '../support/full-press.ts';
import { paperOf } from './paper-copy.ts';

test('paper.yaml orders the blocks of the front, leaves some out, and names the choices for others', async (t) => {
  const { app, folder, clock, tree } = await paperOf(t, 12);
  const blocks = () => {
    const page = treeOf(tree).get('index.html') ?? '';
    return [...page.matchAll(/<section class="(rail|desk-strip)/g)].map(([, name]) => name);
  };
  assert.deepEqual(blocks(), ['rail', 'desk-strip']);
  const body = {
    ...(app.store.desk.record(PAPER, 'paper', '') as object),
    front: { blocks: ['masthead', 'sections'] },
  };
  app.store.database.transact(() =>
    append(app.store.desk, { type: 'record', at: app.clock.now(), paper: PAPER, kind: 'paper', name: '', body }),
  );
  await pressPapers(app, { cards: false });
  assert.deepEqual(blocks(), ['desk-strip', 'rail']);
  assertSameTree(treeOf(tree), await fullPress(t, folder, clock, false));

  const problems = (front: unknown) => {
    const paper = { nameplate: 'The Quay', sections: ['News'], front };
    const { error } = PaperBody.safeParse(paper);
    return error === undefined ? [] : shapeProblems(error, paper).map(({ field, message }) => `${field}: ${message}`);
  };
  assert.deepEqual(problems({ blocks: [] }), []);
  assert.match(
    problems({ blocks: ['sport'] }).join(),
    /^front\.blocks\[0\]: "sport": must be one of "sections", .+"masthead"$/,
  );
  assert.match(problems({ blocks: ['cast', 'cast'] }).join(), /^front\.blocks: .+names a block twice; name each once$/);
  assert.match(problems({ blocks: 'cast' }).join(), /^front\.blocks: "cast": must be a list, as in \[sections, .+\]$/);
});

test('the front has the subscribe form where a public paper says so, and never without a piece', async (t) => {
  const { app } = await paperOf(t, 12);
  const paper = app.store.desk.record(PAPER, 'paper', '') as object;
  const kinds = (more: object) => {
    const body = { ...paper, ...more };
    app.store.database.transact(() =>
      append(app.store.desk, { type: 'record', at: app.clock.now(), paper: PAPER, kind: 'paper', name: '', body }),
    );
    const edition = new Edition(app.store.desk.archive(PAPER), {
      root: 'https://a.example',
      base: '',
      isShared: false,
    });
    return frontView(edition).blocks.map(({ kind }) => kind);
  };
  const box = { subscribe_box: 'end' };
  assert.deepEqual(kinds({ subscribe_box: undefined }), ['rail', 'masthead']);
  assert.deepEqual(kinds(box), ['rail', 'subscribe', 'masthead']);
  assert.deepEqual(kinds({ ...box, paper_public: false }), ['rail', 'masthead']);
  assert.deepEqual(kinds({ ...box, front: { blocks: ['sections'] } }), ['rail']);
  assert.deepEqual(kinds({ ...box, front: { blocks: ['subscribe', 'masthead'] } }), ['subscribe', 'masthead']);
  assert.deepEqual(kinds({ front: { blocks: ['subscribe'] } }), []);
});

test('a picture leads its rail, texts alternate, and small or late sections are listed briefly', () => {
  const row = (id: string, image = false) => ({ id, image: image ? {} : null }) as RowView;
  const section = (name: string, rows: RowView[]) => ({ section: name, url: `/${name}/`, rows });
  const texts = (name: string) =>
    section(
      name,
      ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => row(id)),
    );
  const { rails, briefs } = composeSections([
    section('none', []),
    section('pictured', [row('new'), row('lead', true), row('c'), row('d'), row('second', true)]),
    section('small', [row('a'), row('b')]),
    ...Array.from({ length: 9 }, (_, index) => texts(`text-${index}`)),
  ]);
  assert.deepEqual(
    rails.map(({ form }) => form),
    ['pictured', 'text', 'motif', 'even', 'text', 'motif', 'even', 'text'],
  );
  assert.deepEqual(
    rails[0]?.columns.map((column) => column.map(({ id }) => id)),
    [['lead'], ['second', 'new'], ['c', 'd']],
  );
  assert.deepEqual(
    briefs.map((brief) => `${brief.section} ${brief.rows.length}`),
    ['small 2', 'text-7 2', 'text-8 2'],
  );
});

test('an excerpt is the plain start of the prose, without headings, lists, markers and the dek', () => {
  const prose = '# A head\n\n- a list\n\nThe _second_ is **old**.[^1] It was new once.\n\n> said\n\nAnd a third text.';
  assert.equal(excerptOf(prose, 400), 'The second is old. It was new once. And a third text.');
  assert.equal(excerptOf(prose, 400, 'The second is old.'), 'It was new once. And a third text.');
  assert.equal(excerptOf(prose, 22), 'The second is old.');
  assert.equal(excerptOf(prose, 10), 'The…');
  assert.equal(excerptOf('# Only a head', 400), '');
  assert.ok(excerptOf('経度の起点は一八八四年に決められた。'.repeat(30), 100).length <= 101);
});
