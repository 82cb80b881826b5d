import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { airStory, withdrawStory } from '../../src/desk/airing.ts';
import { airDue } from '../../src/desk/append.ts';
import { NEWS_AGE } from '../../src/desk/event.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { exportLedger } from '../../src/desk/ingest/ledger-export.ts';
import { importLedger } from '../../src/desk/ingest/ledger-import.ts';
import { appendRecord } from '../../src/desk/papers/record.ts';
import { EVENTS_KEPT, type StoredEvent } from '../../src/desk/readers/event-table.ts';
import { type AppContext, deskOf, intakeOf } from '../../src/server/context.ts';
import { appContextIn, type Clock, createPaper, filing, PAPER, SECTIONS, tempFolder } from '../support/app-context.ts';
import { run } from '../support/program.ts';

const START = Date.parse('2026-11-20T12:00:00Z');
const HOUR = 3_600_000;

function founded(t: TestContext): { app: AppContext; clock: Clock; folder: string } {
  const clock = { now: START };
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, clock);
  createPaper(app);
  return { app, clock, folder };
}

function eventsOf({ store }: AppContext): StoredEvent[] {
  const found: StoredEvent[] = [];
  for (let event = store.desk.events.next(0); event !== null; event = store.desk.events.next(event.n))
    found.push(event);
  return found;
}

/** What the events say, in short. */
function tellings(app: AppContext): string[] {
  return eventsOf(app).map((event) =>
    'story' in event
      ? `${event.type} ${event.story.slug} ${event.story.revision}`
      : `${event.type} ${event.type === 'cast.published' ? `${event.cast.day} ${event.cast.title}` : JSON.stringify(event)}`,
  );
}

const by = { by: 'cli' };
const file = (app: AppContext, slug: string, more = {}) => fileStory(deskOf(app), PAPER, filing(slug, more), by);
const air = (app: AppContext, slug: string, at?: number) =>
  airStory(deskOf(app), PAPER, slug, { ...by, ...(at === undefined ? {} : { at }) });

test('readers’ new content is emitted once, in order; what readers do not see is not', (t) => {
  const { app, clock } = founded(t);
  file(app, 'tide');
  file(app, 'tide', { headline: 'A draft that was changed' });
  assert.deepEqual(tellings(app), [], 'drafts are not told');
  air(app, 'tide');
  air(app, 'tide');
  clock.now += HOUR;
  file(app, 'tide', { headline: 'Another', category: SECTIONS[1] ?? '' });
  file(app, 'tide', { headline: 'Another', category: SECTIONS[1] ?? '' });
  withdrawStory(deskOf(app), PAPER, 'tide', { ...by, reason: 'It was wrong.' });
  file(app, 'tide', { headline: 'Mended', category: SECTIONS[1] ?? '' });
  assert.deepEqual(tellings(app), ['story.aired tide 2', 'story.revised tide 3', 'story.withdrawn tide 3']);

  const [aired, revised, withdrawn] = eventsOf(app);
  assert.ok(
    aired?.type === 'story.aired' && revised?.type === 'story.revised' && withdrawn?.type === 'story.withdrawn',
  );
  assert.deepEqual([aired.at, aired.story.headline, aired.left], [START, 'A draft that was changed', null]);
  assert.deepEqual([revised.at, revised.story.category, revised.left], [START + HOUR, SECTIONS[1], SECTIONS[0]]);
  assert.deepEqual([withdrawn.reason, withdrawn.story.headline], ['It was wrong.', 'Another']);
  const ids = new Set(eventsOf(app).map(({ id }) => id));
  assert.equal(ids.size, 3);
  for (const id of ids) assert.match(id, /^[0-9a-hjkmnp-tv-z]{26}$/);
});

test('a piece that returns after a withdrawal is emitted as aired again, with any date', (t) => {
  const { app, clock } = founded(t);
  file(app, 'old');
  air(app, 'old', START - 100 * NEWS_AGE);
  assert.deepEqual(tellings(app), []);
  withdrawStory(deskOf(app), PAPER, 'old', { ...by, reason: 'It was wrong.' });
  clock.now += HOUR;
  air(app, 'old', START - 100 * NEWS_AGE);
  assert.deepEqual(tellings(app), ['story.withdrawn old 1', 'story.aired old 1']);
  withdrawStory(deskOf(app), PAPER, 'old', { ...by, reason: 'Again.' });
  air(app, 'old', clock.now + HOUR);
  // Taken off its schedule, it is as withdrawn as it was.
  withdrawStory(deskOf(app), PAPER, 'old', { ...by, reason: 'Not yet.' });
  assert.equal(tellings(app).length, 3);
});

test('a scheduled piece is emitted when it airs, however late it is read', (t) => {
  const { app, clock } = founded(t);
  file(app, 'tide');
  air(app, 'tide', START + HOUR);
  file(app, 'quay');
  air(app, 'quay', START + 2 * HOUR);
  assert.deepEqual(tellings(app), []);
  clock.now = START + 10 * NEWS_AGE;
  // Another entry airs what was due before it.
  file(app, 'lamp');
  app.store.database.transact(() => airDue(app.store.desk, clock.now));
  assert.deepEqual(tellings(app), ['story.aired tide 1', 'story.aired quay 1']);
  assert.deepEqual(
    eventsOf(app).map(({ at }) => at),
    [START + HOUR, START + 2 * HOUR],
  );
});

test('an imported archive emits nothing but the last 48 hours', (t) => {
  const { app, clock } = founded(t);
  for (const [slug, age] of [
    ['tide', NEWS_AGE],
    ['quay', NEWS_AGE + 1],
    ['lamp', 1_000 * NEWS_AGE],
  ] as const) {
    file(app, slug);
    air(app, slug, START - age);
  }
  assert.deepEqual(tellings(app), ['story.aired tide 1']);
  file(app, 'quay', { headline: 'As of long ago', revised_at: START - NEWS_AGE - 1 });
  assert.equal(tellings(app).length, 1, 'a revision that was made long ago is of the archive');
  file(app, 'quay', { headline: 'As of now' });
  assert.deepEqual(tellings(app).at(-1), 'story.revised quay 3');
  clock.now += HOUR;
  withdrawStory(deskOf(app), PAPER, 'lamp', { ...by, reason: 'It was wrong.' });
  assert.deepEqual(tellings(app).at(-1), 'story.withdrawn lamp 1');
});

test('broadsheet import --air of an old archive emits nothing', async (t) => {
  const folder = tempFolder(t);
  const { prose, cited_facts } = filing('x');
  const lines = Array.from({ length: 30 }, (_, n) =>
    JSON.stringify({
      slug: `old-${n}`,
      headline: `Old ${n}`,
      dek: '',
      section: 'Sea',
      published_at: n < 29 ? '2019-05-20T00:00:00Z' : new Date().toISOString(),
      prose,
      cited_facts,
    }),
  );
  writeFileSync(join(folder, 'archive.jsonl'), `${lines.join('\n')}\n`);
  const args = ['import', join(folder, 'archive.jsonl'), '--paper', 'archive', '--create', '--air', '--no-press'];
  const { code, stderr } = await run(t, folder, args);
  assert.equal(code, 0, stderr);
  const app = appContextIn(t, folder, { now: Date.now() });
  assert.equal(app.store.desk.archive('archive').latest({ limit: 99 }).length, 30);
  assert.deepEqual(tellings(app), ['story.aired old-29 1']);
});

test('a video edition is emitted when it is new or changed, not when it was measured again', (t) => {
  const { app, clock } = founded(t);
  const cast = (day: string, more: object = {}) => {
    const body = {
      day,
      title: 'The day',
      description: '',
      video: 'media/a.mp4',
      poster: 'media/a.jpg',
      captions: null,
      duration_s: 60,
      bytes: 1_000,
      media_type: 'video/mp4',
      ...more,
    };
    const before = app.store.desk.record(PAPER, 'cast', day);
    app.store.database.transact(() =>
      appendRecord(app.store.desk, { at: clock.now, paper: PAPER, kind: 'cast', name: day, body }, before),
    );
  };
  cast('2026-11-20');
  cast('2026-11-20');
  cast('2026-11-20', { duration_s: 61, bytes: 2_000 });
  cast('2026-11-20', { duration_s: 61, bytes: 2_000, title: 'Another' });
  cast('2026-11-18');
  cast('2026-11-16');
  assert.deepEqual(tellings(app), [
    'cast.published 2026-11-20 The day',
    'cast.published 2026-11-20 Another',
    'cast.published 2026-11-18 The day',
  ]);
});

test('a rolled-back change emits nothing', (t) => {
  const { app } = founded(t);
  file(app, 'tide');
  assert.throws(
    () =>
      app.store.database.transact(() => {
        air(app, 'tide');
        assert.equal(tellings(app).length, 1);
        throw new Error('the power went');
      }),
    /the power went/,
  );
  assert.deepEqual(tellings(app), []);
  assert.equal(app.store.desk.archive(PAPER).storyBySlug('tide')?.state, 'draft');
  air(app, 'tide');
  assert.deepEqual(tellings(app), ['story.aired tide 1']);
});

test('a replayed ledger emits nothing, and what airs after it does', async (t) => {
  const { app, clock, folder } = founded(t);
  for (const slug of ['tide', 'quay', 'lamp']) file(app, slug);
  air(app, 'tide');
  air(app, 'quay', START + HOUR);
  air(app, 'lamp', START + 3 * HOUR);
  const path = join(folder, 'ledger.jsonl');
  await exportLedger(intakeOf(app), path);
  clock.now += 2 * HOUR;
  const other = appContextIn(t, tempFolder(t), clock);
  await importLedger(intakeOf(other), path);
  assert.equal(other.store.desk.archive(PAPER).latest({ limit: 9 }).length, 2);
  assert.deepEqual(tellings(other), []);
  clock.now += 2 * HOUR;
  other.store.database.transact(() => airDue(other.store.desk, clock.now));
  assert.deepEqual(tellings(other), ['story.aired lamp 1']);
});

test('events are forgotten when they are old and everybody is through with them', (t) => {
  const { app, clock } = founded(t);
  const {
    desk: { events },
  } = app.store;
  for (const slug of ['tide', 'quay']) {
    file(app, slug);
    air(app, slug);
  }
  clock.now += EVENTS_KEPT;
  events.forget(clock.now - EVENTS_KEPT);
  assert.equal(tellings(app).length, 2, 'nobody is through with them');
  const through = { n: events.next(0)?.n ?? 0, after: '' };
  events.setCursor('webhooks', through);
  events.forget(START);
  assert.equal(tellings(app).length, 2, 'not everybody is through with them');
  events.setCursor('mails', through);
  events.forget(START - 1);
  assert.equal(tellings(app).length, 2, 'they are not old');
  events.forget(START);
  assert.deepEqual(tellings(app), ['story.aired quay 1']);
});
