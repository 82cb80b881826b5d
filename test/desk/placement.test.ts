import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { airStory, withdrawStory } from '../../src/desk/airing.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { fileContent } from '../../src/desk/ingest/content-folder.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import type { FrontChange } from '../../src/desk/placement.ts';
import { placeFront, placeStory } from '../../src/desk/placing.ts';
import { isoTime } from '../../src/proof/time.ts';
import { deskOf, intakeOf } from '../../src/server/context.ts';
import { Fault, problemsIn } from '../../src/shared/fault.ts';
import { filing, PAPER, treeOf } from '../support/app-context.ts';
import { assertSameTree, fullPress } from '../support/full-press.ts';
import { DAY, paperOf, publish, START } from '../support/pressed-paper.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const HOUR = 3_600_000;

/** A paper with ten pieces on air, `piece-0` the oldest, a draft, a scheduled piece and a withdrawn one. */
async function paper(t: Parameters<typeof paperOf>[0]) {
  const at = await paperOf(t, 10);
  const { app } = at;
  fileStory(deskOf(app), PAPER, filing('a-draft'), { by: 'cli' });
  fileStory(deskOf(app), PAPER, filing('to-come'), { by: 'cli' });
  airStory(deskOf(app), PAPER, 'to-come', { by: 'cli', at: START + HOUR });
  publish(app, 'gone', START - 100 * DAY);
  withdrawStory(deskOf(app), PAPER, 'gone', { by: 'cli', reason: 'It was wrong.' });
  const slugOf = (id = '') => app.store.desk.archive(PAPER).storyById(id)?.slug;
  /** The lead's slug, then the pins as `place slug`. */
  const placement = () => {
    const { lead, pins } = app.store.desk.archive(PAPER).placement();
    return [lead === null ? null : slugOf(lead.piece), ...pins.map(({ pin, piece }) => `${pin} ${slugOf(piece)}`)];
  };
  const place = (change: FrontChange) => placeFront(deskOf(app), PAPER, change, 'key:one');
  /** The headlines of the front, largest first. */
  const front = async () => {
    await pressPapers(app, { cards: false });
    const page = treeOf(at.tree).get('index.html') ?? '';
    return [...page.matchAll(/<h2[^>]*><a href="[^"]*\/stories\/([^/]+)\//g)].map(([, slug]) => slug);
  };
  return { ...at, placement, place, front };
}

test('an editor places the lead and pins, and the other places go to the newest pieces', async (t) => {
  const { app, folder, clock, tree, place, front } = await paper(t);
  assert.deepEqual(await front(), ['piece-9', 'piece-8', 'piece-7', 'piece-6', 'piece-5']);
  place({ lead: 'piece-2', pins: [{ story: 'piece-0', pin: 3 }] });
  assert.deepEqual(await front(), ['piece-2', 'piece-9', 'piece-8', 'piece-0', 'piece-7']);
  const { placement } = JSON.parse(treeOf(tree).get('front.json') ?? '') as { placement: Record<string, unknown> };
  assert.deepEqual(Object.keys(placement), ['lead', 'pins', 'revision']);
  assertSameTree(treeOf(tree), await fullPress(t, folder, clock, false));
  // What is left out stays, and null frees a place.
  place({ lead: null });
  assert.deepEqual(await front(), ['piece-9', 'piece-8', 'piece-7', 'piece-0', 'piece-6']);
  const { edition } = app.store.desk.archive(PAPER).paper();
  place({ pins: [{ story: 'piece-0', pin: 3 }] });
  assert.equal(app.store.desk.archive(PAPER).paper().edition, edition, 'the same placement again changes nothing');
});

test('a place ends by the clock, also after a pause, and a clock that was set back does not bring it back', {
  skip: ONLY_WIDE,
}, async (t) => {
  const { folder, clock, tree, place, placement, front } = await paper(t);
  place({ lead: { story: 'piece-2', until: isoTime(START + HOUR) }, pins: ['piece-0'] });
  clock.now = START + HOUR - 1;
  assert.equal((await front())[0], 'piece-2');
  clock.now = START - DAY;
  assert.equal((await front())[0], 'piece-2', 'its time is not over yet by this clock');
  clock.now = START + 3 * DAY;
  assert.equal((await front())[0], 'to-come', 'what was due went on air, and what was over ended');
  assert.deepEqual(placement(), [null, '1 piece-0']);
  assertSameTree(treeOf(tree), await fullPress(t, folder, clock, false));
  clock.now = START;
  await front();
  assert.deepEqual(placement(), [null, '1 piece-0']);
});

test('a scheduled piece takes its position when it goes on air, and stays hidden before', async (t) => {
  const { clock, tree, place, front } = await paper(t);
  place({ lead: 'to-come' });
  assert.equal((await front())[0], 'piece-9');
  assert.doesNotMatch(treeOf(tree).get('front.json') ?? '', /to-come/);
  clock.now = START + HOUR;
  assert.equal((await front())[0], 'to-come');
});

test('a withdrawn piece frees its position permanently', async (t) => {
  const { app, folder, clock, tree, place, placement, front } = await paper(t);
  place({ lead: 'piece-2', pins: ['piece-1', 'to-come'] });
  withdrawStory(deskOf(app), PAPER, 'piece-2', { by: 'cli', reason: 'It was wrong.' });
  withdrawStory(deskOf(app), PAPER, 'to-come', { by: 'cli', reason: 'Not yet.' });
  assert.deepEqual(placement(), [null, '1 piece-1']);
  airStory(deskOf(app), PAPER, 'piece-2', { by: 'cli' });
  assert.equal((await front())[0], 'piece-9');
  assertSameTree(treeOf(tree), await fullPress(t, folder, clock, false));
});

test('invalid placements are rejected with a line each, and the placement stays', async (t) => {
  const { place, placement } = await paper(t);
  place({ lead: 'piece-2', pins: ['piece-1'] });
  const refused: [FrontChange, RegExp[]][] = [
    [{ lead: 'gone' }, [/^lead: "gone" was withdrawn; .+/]],
    [{ lead: 'a-draft' }, [/^lead: "a-draft" is a draft; .+/]],
    [
      { lead: null, pins: ['nobody', { story: 'piece-3', until: isoTime(START) }] },
      [
        /^pins\[0\]: "nobody" is not a piece of this paper; .+/,
        /^pins\[1\]\.until: 2026-11-20T12:00:00\.000Z has passed; .+/,
      ],
    ],
    [{ pins: ['piece-3', 'piece-3'] }, [/^pins\[1\]: "piece-3" is placed already \(pins\[0\]\); .+/]],
    [{ pins: ['piece-2'] }, [/^pins\[0\]: "piece-2" is placed already \(lead\); .+/]],
    [{ lead: 'piece-1' }, [/^lead: "piece-1" is placed already \(pin 1\); .+/]],
    [{ pins: [{ story: 'piece-4', pin: 2 }, 'piece-5'] }, [/^pins\[1\]: place 2 is taken by pins\[0\]; .+/]],
  ];
  for (const [change, lines] of refused) {
    const problems = refusal(() => place(change));
    assert.equal(problems.length, lines.length, problems.join('\n'));
    for (const [index, line] of lines.entries()) assert.match(problems[index] ?? '', line);
    assert.deepEqual(placement(), ['piece-2', '1 piece-1']);
  }
});

test('of two concurrent editors the second is rejected, or the last one wins completely', async (t) => {
  const { place, placement } = await paper(t);
  const { revision } = place({ lead: 'piece-2' });
  place({ lead: 'piece-3', revision });
  assert.throws(
    () => place({ lead: 'piece-4', revision }),
    (error) =>
      error instanceof Fault && error.code === 'conflict' && /from revision 1, but the newest is 2/.test(error.message),
  );
  place({ pins: ['piece-5', 'piece-6'] });
  assert.deepEqual(placement(), ['piece-3', '1 piece-5', '2 piece-6']);
});

test('a piece that is placed by its filing takes the place from the one that has it', async (t) => {
  const { app, place, placement } = await paper(t);
  place({ lead: 'piece-2', pins: ['piece-1'] });
  const story = app.store.desk.archive(PAPER).storyBySlug('piece-1');
  assert(story !== null);
  placeStory(deskOf(app), PAPER, story, { lead: true }, 'key:one');
  assert.deepEqual(placement(), ['piece-1']);
  placeStory(deskOf(app), PAPER, story, null, 'key:one');
  assert.deepEqual(placement(), [null]);
});

test('front matter places a piece, two files for one place are refused, and a file without it gives the place back', async (t) => {
  const { app, folder, clock, placement } = await paper(t);
  const stories = join(folder, 'content', PAPER, 'stories');
  mkdirSync(stories, { recursive: true });
  const write = (slug: string, more: object) => {
    const { prose, cited_facts, headline, dek, category } = filing(slug);
    const facts = cited_facts.map(({ claim_key: _key, ...fact }) => fact);
    const matter = { headline, dek, category, byline: 'ines-calloway', cited_facts: facts, ...more };
    writeFileSync(join(stories, `${slug}.md`), `---\n${JSON.stringify(matter, null, 1)}\n---\n\n${prose}\n`);
  };
  const file = async () =>
    (await fileContent(intakeOf(app))).problems.map(({ file, field, message }) => `${file} ${field}: ${message}`);
  write('first', { placement: { lead: true, until: isoTime(START + HOUR) } });
  write('second', { placement: { pin: 2 } });
  assert.deepEqual(await file(), []);
  assert.deepEqual(placement(), ['first', '2 second']);

  write('third', { placement: { lead: true } });
  write('fourth', { placement: { lead: true }, air: false });
  write('fifth', { placement: { pin: 9 } });
  const problems = await file();
  assert.match(problems.join('\n'), /third\.md placement: harbor-ledger\/stories\/first\.md leads the front too; .+/);
  assert.match(problems.join('\n'), /fourth\.md placement: "fourth" is a draft; .+/);
  assert.match(problems.join('\n'), /fifth\.md placement\.pin: 9: must be at most 4/);
  assert.equal(problems.length, 3);
  assert.deepEqual(placement(), ['first', '2 second']);

  // The first file's time is over: the third leads without a change to either of them.
  clock.now = START + HOUR;
  write('fourth', {});
  write('fifth', {});
  write('second', {});
  assert.deepEqual(await file(), []);
  assert.deepEqual(placement(), ['third']);
});

/** The problems of a refusal as lines. */
function refusal(work: () => unknown): string[] {
  try {
    work();
  } catch (error) {
    if (error instanceof Fault) return (problemsIn(error) ?? []).map(({ field, message }) => `${field}: ${message}`);
    throw error;
  }
  return [];
}
