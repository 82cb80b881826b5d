import assert from 'node:assert/strict';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'libsql';
import type { AppContext } from '../../src/app/context.ts';
import { airStory, withdrawStory } from '../../src/desk/airing.ts';
import { fileStory } from '../../src/desk/filing.ts';
import { importArchive } from '../../src/ingest/import-archive.ts';
import { makeSegment } from '../../src/store/segment-maker.ts';
import type { Scope } from '../support/app-context.ts';
import { appContextIn, createPaper, filing, PAPER, SECTIONS, tempFolder } from '../support/app-context.ts';

const NOON = Date.parse('2026-11-20T12:00:00Z');
const MINUTE = 60_000;

function founded(t: Scope, folder: string): AppContext {
  const app = appContextIn(t, folder, { now: NOON });
  createPaper(app);
  return app;
}

/** Files and airs `count` pieces in one transaction, two a minute, the older one last. */
function airMany({ store, desk }: AppContext, name: string, count: number, from = NOON): void {
  store.transact(() => {
    for (let n = 0; n < count; n++) {
      const slug = `${name}-${n}`;
      fileStory(desk, PAPER, filing(slug, { headline: `Tide ${name} ${n}` }), { by: 'cli' });
      airStory(desk, PAPER, slug, { by: 'cli', at: from - Math.floor(n / 2) * MINUTE - (n % 2) });
    }
  });
}

function found({ store }: AppContext, ...terms: string[]): (string | undefined)[] {
  const archive = store.archive(PAPER);
  return archive.search(terms, 1_000).map((id) => archive.row(id)?.slug);
}

/** What the archive itself lists, which is what a search for a word of every piece must answer. */
const listed = ({ store }: AppContext) =>
  store
    .archive(PAPER)
    .latest({ limit: 1_000 })
    .map(({ slug }) => slug);

/** `isFilled` says whether the index says of itself that it holds everything. */
function assertSound({ store }: AppContext, isFilled = true): void {
  assert.deepEqual(store.integrity(), []);
  assert.deepEqual(
    store.ledgerFaults().filter((fault) => isFilled || !/is not whole/.test(fault)),
    [],
  );
  assert.deepEqual(
    store.indexFaults(() => {}),
    [],
  );
}

const segments = (folder: string): number => {
  const db = new Database(join(folder, 'var/broadsheet.db'), { readonly: true });
  try {
    return (db.prepare('SELECT count(DISTINCT segid) AS n FROM search_idx').get() as { n: number }).n;
  } finally {
    db.close();
  }
};

test('pieces that are deferred are found once their segments are added, beside those that FTS5 indexed itself', (t) => {
  const folder = tempFolder(t);
  const app = founded(t, folder);
  const bulk = app.store.deferring.bulkIndex();
  t.after(() => bulk.close());
  airMany(app, 'before', 30);
  const plans = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].map((name) => {
    app.store.deferring.defer(true);
    airMany(app, name, 8);
    app.store.deferring.defer(false);
    return bulk.plan(app.store.deferring.takeDeferred());
  });
  assert.equal(found(app, 'tide').length, 30);
  // More than one level of FTS5, and a filing between two segments.
  for (const [at, plan] of plans.entries()) {
    assert.equal(bulk.add(plan, makeSegment(plan)), null);
    if (at === 5) airMany(app, 'amid', 1, NOON - 90 * MINUTE);
  }
  assert.equal(segments(folder), 12);
  assert.deepEqual(found(app, 'tide'), listed(app));
  assert.deepEqual(found(app, 'tide', 'c'), ['c-0', 'c-1', 'c-2', 'c-3', 'c-4', 'c-5', 'c-6', 'c-7']);
  // What FTS5 does with a segment afterwards: it strikes, it indexes again, it merges.
  withdrawStory(app.desk, PAPER, 'c-3', { by: 'cli', reason: 'It was wrong.' });
  fileStory(app.desk, PAPER, filing('d-1', { headline: 'Ebb', correction: 'It was ebb.' }), { by: 'cli' });
  assertSound(app, false);
  assert.deepEqual(found(app, 'ebb'), ['d-1']);
  airMany(app, 'after', 40);
  app.store.deferring.fill();
  assertSound(app);
  app.store.optimizeSearch();
  assert.equal(segments(folder), 1);
  assertSound(app);
  assert.deepEqual(found(app, 'tide', 'c').length, 7);
});

test('a large segment is not merged with a few small ones', (t) => {
  const folder = tempFolder(t);
  const app = founded(t, folder);
  airMany(app, 'many', 900);
  app.store.optimizeSearch();
  assert.equal(segments(folder), 1);
  airMany(app, 'lone', 1);
  app.store.optimizeSearch();
  assert.equal(segments(folder), 2);
  assert.deepEqual(found(app, 'tide', 'lone'), ['lone-0']);
  airMany(app, 'zeal', 300);
  app.store.optimizeSearch();
  assert.equal(segments(folder), 1);
  assert.equal(found(app, 'tide', 'zeal').length, 300);
  assertSound(app);
});

test('a segment whose pieces changed meanwhile is not added, and what is missing is indexed', (t) => {
  const app = founded(t, tempFolder(t));
  const bulk = app.store.deferring.bulkIndex();
  t.after(() => bulk.close());
  app.store.deferring.defer(true);
  for (const name of ['a', 'b']) airMany(app, name, 4);
  app.store.deferring.defer(false);
  const both = app.store.deferring.takeDeferred();
  const [a, b] = [bulk.plan(both.slice(0, 4)), bulk.plan(both.slice(4))];
  withdrawStory(app.desk, PAPER, 'a-2', { by: 'cli', reason: 'It was wrong.' });
  assert.match(String(bulk.add(a, makeSegment(a))), /has changed/);
  assert.match(String(bulk.add(b, makeSegment(b))), /has changed/, 'its places followed those of the first');
  assert.deepEqual(found(app, 'tide'), []);
  app.store.deferring.fill();
  assert.deepEqual(found(app, 'tide'), listed(app));
  assertSound(app);
});

test('what a process left out of the index when it was killed, the next one indexes', (t) => {
  const folder = tempFolder(t);
  const app = founded(t, folder);
  app.store.deferring.defer(true);
  airMany(app, 'a', 6);
  app.store.deferring.defer(false);
  assert.deepEqual(found(app, 'tide'), []);
  const takenBack = () => {
    airMany(app, 'b', 2);
    assert.fail('taken back');
  };
  assert.throws(() => app.store.transact(takenBack), /taken back/);
  app.close();
  const again = appContextIn(t, folder, { now: NOON });
  assert.deepEqual(found(again, 'tide'), listed(again));
  assert.equal(listed(again).length, 6);
  assertSound(again);
});

test('a large archive is indexed by a thread, as a small one is', async (t) => {
  const folder = tempFolder(t);
  const file = join(folder, 'archive.jsonl');
  const lines = Array.from({ length: 520 }, (_, n) =>
    JSON.stringify({
      slug: `piece-${n}`,
      headline: `Tide ${n}`,
      section: SECTIONS[0],
      published_at: new Date(NOON - ((n * 7) % 100) * MINUTE).toISOString(),
      prose: `One.[^1]\n\nTwo.[^2]\n\n${n === 300 ? '<b>' : ''}${'The ebb and the flow of the tide, and of others. '.repeat(36)}`,
      cited_facts: [
        { statement: 'One.', source: 'NIST', instrument: 'FIPS 180-4' },
        { statement: 'Two.', source: 'IETF', instrument: 'RFC 2119' },
      ],
    }),
  );
  writeFileSync(file, lines.join('\n'));
  assert.ok(statSync(file).size > 1_000_000);
  const app = founded(t, folder);
  const { filed, refused } = await importArchive(app, file, { paper: PAPER, persona: 'tomas-berg', air: true });
  assert.deepEqual([filed, refused.length], [519, 1]);
  assert.deepEqual(found(app, 'ebb', 'others'), listed(app));
  // 500 pieces, and 19.
  assert.equal(segments(folder), 2);
  assertSound(app);
  const again = await importArchive(app, file, { paper: PAPER, persona: 'tomas-berg', air: true });
  assert.deepEqual([again.filed, again.unchanged], [0, 519]);
});
