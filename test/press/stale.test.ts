import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { withdrawStory } from '../../src/desk/airing.ts';
import { append } from '../../src/desk/append.ts';
import { PressQueue } from '../../src/desk/jobs/press-queue.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { PaperBody } from '../../src/desk/papers/paper.ts';
import { sha256 } from '../../src/proof/basis.ts';
import { type AppContext, deskOf } from '../../src/server/context.ts';
import { eventLoop } from '../../src/shared/workers/event-loop.ts';
import { appContextIn, PAPER, tempFolder, treeOf } from '../support/app-context.ts';
import { assertSameTree, fullPress } from '../support/full-press.ts';
import { DAY, publish, START } from '../support/pressed-paper.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { paperOf } from './paper-copy.ts';

function change({ store, clock: { now } }: AppContext, more: object): void {
  const body = { ...(store.desk.record(PAPER, 'paper', '') as object), ...more };
  store.database.transact(() =>
    append(store.desk, { type: 'record', at: now(), paper: PAPER, kind: 'paper', name: '', body }),
  );
}

/** Does something once, when a press has printed so many sheets. */
function after(sheets: number, work: () => void): () => void {
  let printed = 0;
  return () => {
    if (printed++ === sheets) work();
  };
}

test('a piece that comes in while a press of everything runs gets the next press', { skip: ONLY_WIDE }, async (t) => {
  // Early, when its own sheets are not yet chosen for printing, and late, when everything else is printed.
  for (const sheets of ONLY_WIDE === false ? [0, 5, 30] : [5]) {
    const { app, folder, clock, tree } = await paperOf(t, 3);
    change(app, { hue: 17 });
    await pressPapers(app, { cards: false, progress: after(sheets, () => publish(app, 'the-late-one', START)) });
    assert.ok([...app.store.desk.manifest.staleDependencies(PAPER)].length > 0, 'it is still due');
    await pressPapers(app, { cards: false });
    assert.match(readFileSync(join(tree, 'stories/the-late-one/index.html'), 'utf8'), /What the-late-one means/);
    assertSameTree(treeOf(tree), await fullPress(t, folder, clock, false));
  }
});

test('a piece that comes in before a press of everything begins is part of it', { skip: ONLY_WIDE }, async (t) => {
  const { app, folder, clock, tree } = await paperOf(t, 3);
  change(app, { hue: 17 });
  publish(app, 'in-time', START);
  await pressPapers(app, { cards: false });
  assert.deepEqual(
    [...app.store.desk.manifest.staleDependencies(PAPER)].filter((dependency) => !dependency.startsWith('card:')),
    [],
  );
  assertSameTree(treeOf(tree), await fullPress(t, folder, clock, false));
});

test('what a broken-off press wrote of a piece goes when the piece is withdrawn before the next one', async (t) => {
  const { app, folder, clock, tree } = await paperOf(t, 3);
  publish(app, 'too-soon', START);
  // The first output is the piece's proof.
  const crash = after(1, () => {
    throw new Error('the power went');
  });
  await assert.rejects(pressPapers(app, { cards: false, progress: crash }), /the power went/);
  assert.ok(existsSync(join(tree, 'stories/too-soon.md')), 'it was written, and the manifest does not know it');
  withdrawStory(deskOf(app), PAPER, 'too-soon', { by: 'cli', reason: 'It was wrong.' });
  await pressPapers(app, { cards: false });
  assert.ok(!existsSync(join(tree, 'stories/too-soon.md')));
  assert.ok(!existsSync(join(tree, 'stories/too-soon/proof.json')));
  assertSameTree(treeOf(tree), await fullPress(t, folder, clock, false));
});

test('a piece reverted after an interrupted press is printed as it is', { skip: ONLY_WIDE }, async (t) => {
  const { app, folder, clock, tree } = await paperOf(t, 3);
  const page = join(tree, 'stories/piece-0/index.html');
  const before = app.store.desk.record(PAPER, 'paper', '') as { hue: number };
  change(app, { hue: 99 });
  const crash = after(20, () => {
    throw new Error('the power went');
  });
  await assert.rejects(pressPapers(app, { cards: false, progress: crash }), /the power went/);
  change(app, { hue: before.hue });
  await pressPapers(app, { cards: false });
  assert.ok(existsSync(page));
  assertSameTree(treeOf(tree), await fullPress(t, folder, clock, false));
});

test('a full press that was broken off is done again, though nothing is stale', { skip: ONLY_WIDE }, async (t) => {
  const { app, folder, clock, tree } = await paperOf(t, 3);
  await pressPapers(app);
  rmSync(tree, { recursive: true });
  const crash = after(3, () => {
    throw new Error('the power went');
  });
  await assert.rejects(pressPapers(app, { full: true, progress: crash }), /the power went/);
  assert.deepEqual([...app.store.desk.manifest.staleDependencies(PAPER)], []);
  assert.equal((await pressPapers(app)).get(PAPER)?.full, true);
  assertSameTree(treeOf(tree), await fullPress(t, folder, clock, true));
});

test('a press whose lease another one took writes nothing more and clears nothing', async (t) => {
  const { app, folder, tree } = await paperOf(t, 3);
  const {
    desk: { manifest },
  } = app.store;
  const before = treeOf(tree);
  const another = join(folder, 'papers/.press', PAPER, 'another');
  publish(app, 'taken-over', START);
  const due = [...manifest.staleDependencies(PAPER)];
  const takeOver = after(0, () => {
    manifest.releaseLease(PAPER, manifest.leaseOwner(PAPER) ?? '');
    assert.ok(manifest.acquireLease(PAPER, 'elsewhere:1:another', Date.now(), 30_000));
    mkdirSync(another);
  });
  await assert.rejects(
    pressPapers(app, { cards: false, progress: takeOver }),
    /this press lost its lease after a pause/,
  );
  assert.deepEqual([...manifest.staleDependencies(PAPER)], due);
  assert.equal(manifest.leaseOwner(PAPER), 'elsewhere:1:another', 'and leaves the lease to whom it belongs');
  assert.ok(existsSync(another), 'and its working folder');
  assert.equal(treeOf(tree).get('front.json'), before.get('front.json'));
});

test('a lease dated by a clock since set back has no owner', async (t) => {
  const { app } = await paperOf(t, 3);
  const {
    desk: { manifest },
  } = app.store;
  assert.ok(manifest.acquireLease(PAPER, 'elsewhere:1:next-year', Date.now() + 365 * DAY, 30_000));
  publish(app, 'not-for-a-year', START);
  assert.equal((await pressPapers(app, { cards: false })).get(PAPER)?.full, false);
});

test('a press prints one state of the paper: no file names a piece whose page is not there', {
  skip: ONLY_WIDE,
}, async (t) => {
  // Without a crew, and with one, whose workers read for themselves.
  for (const pieces of ONLY_WIDE === false ? [3, 410] : [3]) {
    const { app, tree } = await paperOf(t, pieces);
    change(app, { hue: 18 });
    const naming = () => [...treeOf(tree)].filter(([, text]) => text.includes('meanwhile')).map(([path]) => path);
    await pressPapers(app, { cards: false, progress: after(1, () => publish(app, 'meanwhile', START)) });
    assert.deepEqual(naming(), []);
    await pressPapers(app, { cards: false });
    assert.ok(naming().includes('index.html') && naming().includes('stories/meanwhile/index.html'));
    if (pieces === 3) continue;
    // The workers take their snapshots after the press began: what came between is in all files or in none.
    const pressed = pressPapers(app, { full: true, cards: false });
    setImmediate(() => publish(app, 'between', START));
    await pressed;
    const between = [...treeOf(tree)].filter(([, text]) => text.includes('between')).map(([path]) => path);
    const last = between.includes('index.html') && between.includes('stories/between/proof.json');
    assert.ok(between.length === 0 || last, between.join());
  }
});

test('a full press repairs every altered file', async (t) => {
  const { app, tree } = await paperOf(t, 3);
  await pressPapers(app, { cards: false });
  const before = treeOf(tree);
  const story = join(tree, 'stories/piece-0/index.html');
  const text = readFileSync(story, 'utf8');
  writeFileSync(story, `${text} `);
  writeFileSync(join(tree, 'stories/piece-1/index.html'), text.replace('e', 'é').slice(1));
  writeFileSync(join(tree, 'stories/piece-2/index.html'), '');
  // Both paths are one file: what is changed in one place is changed in both.
  writeFileSync(join(tree, 'embed/piece-0/index.html'), 'x');
  rmSync(join(tree, 'embed/piece-1/index.html'));
  rmSync(join(tree, 'stories/piece-1.md'));
  const reports = await pressPapers(app, { full: true, cards: false });
  assertSameTree(treeOf(tree), before);
  assert.equal(reports.get(PAPER)?.written, 7);
});

test('what names other files is printed after them', async (t) => {
  const { app } = await paperOf(t, 3);
  const printed: string[] = [];
  await pressPapers(app, { full: true, cards: false, progress: (_paper, _done, _total, name) => printed.push(name) });
  const first = (start: string) => printed.findIndex((name) => name === start || name.startsWith(`${start}/`));
  const last = (start: string) => printed.findLastIndex((name) => name === start || name.startsWith(`${start}/`));
  for (const [named, names] of [
    ['story', 'day'],
    ['day', 'year'],
    ['year', 'days'],
    ['section-page', 'section'],
    ['persona', 'masthead'],
    ['section', 'front'],
    ['front', 'feeds'],
    ['month', 'sitemap'],
  ] as const) {
    assert.ok(last(named) >= 0 && first(names) >= 0, `${named} and ${names} are printed`);
    assert.ok(last(named) < first(names), `${named} before ${names}`);
  }
  assert.equal(printed.at(-1), 'hosting', 'its _headers say that the tree is whole');
});

test('a process that waited for the lock does not take a lease made meanwhile', async (t) => {
  const { app } = await paperOf(t, 3);
  const {
    desk: { manifest },
  } = app.store;
  const now = Date.now();
  assert.ok(manifest.acquireLease(PAPER, 'elsewhere:1:first', now + 4_000, 30_000));
  assert.equal(manifest.acquireLease(PAPER, 'elsewhere:2:second', now, 30_000), false);
});

test('a held lease is waited for, and no other process presses meanwhile', async (t) => {
  const { app } = await paperOf(t, 3);
  const {
    desk: { manifest },
  } = app.store;
  assert.ok(manifest.acquireLease(PAPER, 'elsewhere:1:busy', Date.now(), 30_000));
  publish(app, 'later', START);
  const pressing = pressPapers(app, { cards: false });
  assert.equal(
    await Promise.race([pressing, new Promise((resolve) => setTimeout(resolve, 300, 'waiting'))]),
    'waiting',
  );
  manifest.releaseLease(PAPER, 'elsewhere:1:busy');
  assert.ok((await pressing).has(PAPER));
});

test('a process with the number of a dead one does not wait for it', async (t) => {
  const { app } = await paperOf(t, 3);
  const {
    desk: { manifest },
  } = app.store;
  let mine = '';
  publish(app, 'before', START);
  await pressPapers(app, {
    cards: false,
    progress: () => {
      mine = manifest.leaseOwner(PAPER) ?? '';
    },
  });
  // In a container the program has the same number each time.
  const [machine, pid] = mine.split(':');
  assert.equal(pid, String(process.pid));
  assert.ok(manifest.acquireLease(PAPER, `${machine}:${pid}:of-a-former-life:0`, Date.now(), 30_000));
  publish(app, 'at-once', START);
  assert.ok((await pressPapers(app, { cards: false })).has(PAPER));
});

test('no press works in another one’s folder, and remains of a dead one are removed', async (t) => {
  const { app, folder } = await paperOf(t, 3);
  const working = join(folder, 'papers/.press', PAPER);
  const seen = new Set<string>();
  for (const slug of ['one', 'two']) {
    publish(app, slug, START);
    await pressPapers(app, {
      cards: false,
      progress: () => {
        for (const name of readdirSync(working)) seen.add(name);
      },
    });
  }
  assert.equal(seen.size, 2);
  assert.deepEqual(readdirSync(working), []);
});

test('a large removal yields the thread', { skip: ONLY_WIDE }, async (t) => {
  const { app, tree } = await paperOf(t, 10);
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  change(app, { paper_public: false });
  // Each reading of the clock is a slice later, as on a slow disk: how fast this one is does not matter.
  let now = performance.now();
  t.mock.method(performance, 'now', () => {
    now += 10;
    return now;
  });
  setImmediate(count);
  await pressPapers(app, { cards: false });
  isOver = true;
  assert.deepEqual([...treeOf(tree).keys()], []);
  assert.ok(turns > 10, `others had the thread ${turns} times`);
});

test('a request for a number is answered when its press is on disk, with what it changed', async (t) => {
  const { app, tree } = await paperOf(t, 3);
  await pressPapers(app);
  const presses = new PressQueue(app);
  const {
    desk: { manifest },
  } = app.store;
  const page = (slug: string) => join(tree, `stories/${slug}/index.html`);
  publish(app, 'first', START);
  const first = manifest.newestStale(PAPER);
  const pressed = presses.pressedUntil(PAPER, first).then((files) => ({ files, there: existsSync(page('first')) }));
  // It comes too late for the press under way.
  await new Promise((resolve) => setTimeout(resolve, 20));
  publish(app, 'second', START);
  const second = manifest.newestStale(PAPER);
  const files = await presses.pressedUntil(PAPER, second);
  assert.ok(existsSync(page('second')));
  assert.ok(files > 0);
  assert.deepEqual([(await pressed).there, (await pressed).files > 0], [true, true]);
  // Asked again, it is told the same; and of what is not stale there is nothing to tell.
  assert.equal(await presses.pressedUntil(PAPER, second), files);
  assert.equal(manifest.newestStale(PAPER), 0);
});

test('a press that leaves the cards to a later one does not count as the press of a write', async (t) => {
  const { app, tree } = await paperOf(t, 3);
  const {
    desk: { manifest },
  } = app.store;
  publish(app, 'with-a-card', START);
  const number = manifest.newestStale(PAPER);
  await pressPapers(app, { cards: false });
  assert.equal(manifest.isPressed(PAPER, number), false);
  await new PressQueue(app).pressedUntil(PAPER, number);
  const id = app.store.desk.archive(PAPER).storyBySlug('with-a-card')?.id ?? '';
  assert.ok(readdirSync(join(tree, 'cards')).some((name) => name.startsWith(id)));
});

test('after a power cut before the disk had a full press, the next one looks at every file', {
  skip: ONLY_WIDE,
}, async (t) => {
  const { app, folder, clock, tree } = await paperOf(t, 3);
  await pressPapers(app);
  const {
    desk: { manifest },
  } = app.store;
  assert.equal(manifest.unsynced(PAPER), null, 'the disk has all of it');
  manifest.setUnsynced(PAPER, 'another-boot 7');
  rmSync(join(tree, 'stories/piece-0/index.html'));
  assert.equal((await pressPapers(app)).get(PAPER)?.full, true);
  assert.equal(manifest.unsynced(PAPER), null);
  assertSameTree(treeOf(tree), await fullPress(t, folder, clock, true));
});

test('a process of another container is not mistaken for a dead one of this', async (t) => {
  const { app } = await paperOf(t, 3);
  const {
    desk: { manifest },
  } = app.store;
  const { hostname } = await import('node:os');
  // No such process here; in its own container it may well run.
  assert.ok(manifest.acquireLease(PAPER, `${hostname()}/1:4000000:elsewhere:0`, Date.now(), 30_000));
  publish(app, 'patience', START);
  const pressing = pressPapers(app, { cards: false });
  assert.equal(
    await Promise.race([pressing, new Promise((resolve) => setTimeout(resolve, 300, 'waiting'))]),
    'waiting',
  );
  manifest.releaseLease(PAPER, `${hostname()}/1:4000000:elsewhere:0`);
  await pressing;
});

test('a picture of a publish is synced before it has its name', async (t) => {
  const { openTree } = await import('../../src/desk/press/tree.ts');
  const folder = tempFolder(t);
  const asked: string[] = [];
  const tree = openTree(join(folder, 'tree'), {
    aside: join(folder, 'aside'),
    sync: true,
    assertHeld: () => void asked.push(readdirSync(join(folder, 'aside')).join()),
  });
  writeFileSync(join(folder, 'picture'), 'a picture');
  const digest = sha256(Buffer.from('a picture'));
  await tree.copy('media/picture.svg', join(folder, 'picture'), digest);
  assert.equal(readFileSync(join(folder, 'tree/media/picture.svg'), 'utf8'), 'a picture');
  assert.deepEqual(asked, ['', '0'], 'it was asked again after the disk had it, before the rename');
  await assert.rejects(tree.copy('media/gone.svg', join(folder, 'gone'), digest), /is missing in DATA_DIR/);
});

test('cards that come after the pages appear whole or not at all', async (t) => {
  const { openTree } = await import('../../src/desk/press/tree.ts');
  const folder = tempFolder(t);
  const tree = openTree(join(folder, 'tree'), { aside: join(folder, 'aside'), sync: false, assertHeld: () => {} });
  mkdirSync(join(folder, 'tree/cards'));
  // Written in its place, a file that is there is opened and emptied; renamed over, it is another file.
  writeFileSync(join(folder, 'tree/cards/a.png'), 'old');
  const { ino } = statSync(join(folder, 'tree/cards/a.png'));
  await tree.write('cards/a.png', Buffer.from('new'));
  assert.equal(statSync(join(folder, 'tree/cards/a.png')).ino, ino);
  tree.show();
  await tree.write('cards/a.png', Buffer.from('newer'));
  assert.notEqual(statSync(join(folder, 'tree/cards/a.png')).ino, ino);
});

test('a process presses few papers at a time, and first the one with a waiting caller', {
  skip: ONLY_WIDE,
}, async (t) => {
  const clock = { now: START };
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, clock);
  const papers = ['p1', 'p2', 'p3', 'p4', 'p5'];
  for (const paper of papers) {
    const body = { nameplate: paper, sections: ['City'], language: 'en' };
    app.store.database.transact(() =>
      append(app.store.desk, {
        type: 'record',
        at: START,
        paper,
        kind: 'paper',
        name: '',
        body: PaperBody.parse(body),
      }),
    );
  }
  const begun: unknown[] = [];
  let [running, most] = [0, 0];
  const began = eventLoop.began.bind(eventLoop);
  t.mock.method(eventLoop, 'began', (work: Parameters<typeof began>[0]) => {
    const ended = began(work);
    if (work.job !== 'press') return ended;
    begun.push(work.paper);
    most = Math.max(most, ++running);
    return () => {
      running--;
      ended();
    };
  });
  const presses = new PressQueue(app);
  const all = papers.map((paper) => presses.press(paper));
  await Promise.all([...all, presses.pressedUntil('p5', app.store.desk.manifest.newestStale('p5'))]);
  assert.equal(most, 2);
  assert.deepEqual(begun.slice(0, 5), ['p1', 'p2', 'p5', 'p3', 'p4']);
});

test('one paper that cannot be pressed keeps no other one from it', async (t) => {
  const { app, folder } = await paperOf(t, 3);
  const body = PaperBody.parse({ nameplate: 'First', sections: ['City'] });
  app.store.database.transact(() =>
    append(app.store.desk, { type: 'record', at: START, paper: 'aaa', kind: 'paper', name: '', body }),
  );
  writeFileSync(join(folder, 'papers/aaa'), 'in the way');
  publish(app, 'all-the-same', START);
  await assert.rejects(pressPapers(app, { cards: false }), /there is a file where a folder belongs/);
  assert.ok(existsSync(join(folder, `papers/${PAPER}/stories/all-the-same.md`)));
});

test('stale dependencies are read in batches, each once and in their order', async (t) => {
  const { app } = await paperOf(t, 3);
  const {
    desk: { manifest },
  } = app.store;
  const given = Array.from({ length: 2_500 }, (_, n) => `card:${(n * 7) % 2_500}`);
  app.store.database.transact(() => manifest.markStale(PAPER, given));
  const before = [...manifest.staleDependencies(PAPER)];
  assert.deepEqual(before.slice(-given.length), given);
  app.store.database.transact(() => manifest.markStale(PAPER, ['card:7']));
  assert.deepEqual(
    [...manifest.staleDependencies(PAPER)],
    [...before.filter((dependency) => dependency !== 'card:7'), 'card:7'],
  );
});

test('a dependency that is marked again while a press lists stale outputs stays part of that press', async (t) => {
  const { app, tree } = await paperOf(t, 3);
  const {
    desk: { manifest },
  } = app.store;
  publish(app, 'listed', START);
  const begin = manifest.begin.bind(manifest);
  const stale: string[] = [];
  t.mock.method(manifest, 'begin', (paper: string) => {
    const start = begin(paper);
    // As another process does as soon as the press has begun.
    setImmediate(() => manifest.markStale(paper, stale));
    return start;
  });
  stale.push(...manifest.staleDependencies(PAPER));
  await pressPapers(app, { cards: false });
  assert.match(readFileSync(join(tree, 'stories/listed/index.html'), 'utf8'), /What listed means/);
  assert.deepEqual(
    stale.filter((dependency) => !manifest.isStale(PAPER, dependency)),
    [],
  );
});
