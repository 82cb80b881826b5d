import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileContent } from '../../src/desk/ingest/content-folder.ts';
import { exportLedger } from '../../src/desk/ingest/ledger-export.ts';
import { importLedger } from '../../src/desk/ingest/ledger-import.ts';
import { intakeOf } from '../../src/server/context.ts';
import { PROJECT } from '../../src/shared/project.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';

const DEMO = 'the-leading-light';
const FILES = ['beaufort-without-instruments.md', 'desk-note-what-zero-means.md'];

function folderWith(folder: string, slug: string): string {
  const to = join(folder, 'content', slug);
  mkdirSync(join(to, 'stories'), { recursive: true });
  for (const name of ['paper.yaml', 'masthead', 'media/portraits', 'cast', 'media/cast']) {
    cpSync(join(PROJECT, 'content', DEMO, name), join(to, name), { recursive: true });
  }
  for (const name of FILES) {
    const text = readFileSync(join(PROJECT, 'content', DEMO, 'stories', name), 'utf8');
    // Without the picture, whose variants take longer than the test.
    writeFileSync(join(to, 'stories', name), text.replace(/^image:\n(?: .*\n)+/m, ''));
  }
  return to;
}

const castsOf = (app: ReturnType<typeof appContextIn>) =>
  app.store.desk
    .archive(DEMO)
    .casts()
    .map(({ day }) => day);

const START = Date.UTC(2027, 2, 5, 9);
const DAY = 86_400_000;

test('the demo papers are dated from their first filing, and the same at every later one', async (t) => {
  const folder = tempFolder(t);
  const clock = { now: START };
  const app = appContextIn(t, folder, clock, { DEMO_DATES: 'on' });
  const demo = folderWith(folder, DEMO);
  const other = folderWith(folder, 'a-light-of-ours');
  writeFileSync(
    join(other, 'paper.yaml'),
    readFileSync(join(other, 'paper.yaml'), 'utf8').replace('The Leading Light', 'A Light of Ours'),
  );
  const [name = ''] = FILES;
  const text = readFileSync(join(demo, 'stories', name), 'utf8');
  const own = text.replace(/^air: .*/m, 'air: 2027-01-02T03:04:05Z').replace(/^headline: .*/m, 'headline: Our own');
  writeFileSync(join(demo, 'stories/our-own.md'), own);
  const times = async (slug: string) => {
    const { problems } = await fileContent(intakeOf(app));
    assert.deepEqual(problems, []);
    const archive = app.store.desk.archive(slug);
    return [...FILES, 'our-own.md'].map((file) => archive.storyBySlug(file.replace('.md', ''))?.published_at ?? null);
  };
  const asFiled = FILES.map((file) => {
    const front = readFileSync(join(demo, 'stories', file), 'utf8');
    return Date.parse(/^air: (.*)/m.exec(front)?.[1] ?? '');
  });
  const moved = await times(DEMO);
  const shift = (moved[0] ?? 0) - (asFiled[0] ?? 0);
  assert.equal(shift % DAY, 0, 'whole days');
  const newest = Date.UTC(2026, 10, 21, 11, 40) + shift;
  assert.ok(newest <= START && newest > START - DAY, 'the newest piece of the demo is a day old at most');
  assert.deepEqual(moved, [...asFiled.map((at) => at + shift), Date.UTC(2027, 0, 2, 3, 4, 5)]);
  assert.deepEqual((await times('a-light-of-ours')).slice(0, 2), asFiled, 'another paper of the same files stays');

  clock.now += 9 * DAY;
  const revised = text.replace('---\n\n', 'revised_at: 2026-11-19T10:00:00Z\n---\n\nA first line.\n\n');
  writeFileSync(join(demo, 'stories', name), revised);
  assert.deepEqual(await times(DEMO), moved, 'nine days later they are of the same days');
  const story = app.store.desk.archive(DEMO).storyBySlug(name.replace('.md', ''));
  assert.equal(story?.revision, 2);
  assert.equal(app.store.desk.archive(DEMO).piece(story?.id ?? '')?.revised_at, Date.UTC(2026, 10, 19, 10) + shift);
});

test('with a clock before the demo, or with DEMO_DATES=off, the files’ dates stand', async (t) => {
  for (const [now, DEMO_DATES] of [
    [Date.UTC(2026, 10, 20), 'on'],
    [START, 'off'],
  ] as const) {
    const folder = tempFolder(t);
    const app = appContextIn(t, folder, { now }, { DEMO_DATES });
    const demo = folderWith(folder, DEMO);
    const { problems } = await fileContent(intakeOf(app));
    assert.deepEqual(problems, []);
    const [name = ''] = FILES;
    const air = /^air: (.*)/m.exec(readFileSync(join(demo, 'stories', name), 'utf8'))?.[1] ?? '';
    const story = app.store.desk.archive(DEMO).storyBySlug(name.replace('.md', ''));
    assert.equal(story?.published_at, Date.parse(air));
    assert.deepEqual(castsOf(app), ['2026-11-16']);
  }
});

for (const [what, now] of [
  ['at midnight UTC', Date.UTC(2027, 2, 5)],
  ['in the last millisecond of a day', Date.UTC(2027, 2, 5) - 1],
  ['at the hour of the newest piece', Date.UTC(2027, 2, 5, 11, 40)],
] as const) {
  test(`begun ${what}, the demo is of days that were, and comes out of an export as it was`, async (t) => {
    const folder = tempFolder(t);
    const clock = { now };
    const app = appContextIn(t, folder, clock, { DEMO_DATES: 'on' });
    folderWith(folder, DEMO);
    assert.deepEqual((await fileContent(intakeOf(app))).problems, []);
    const [name = ''] = FILES;
    const airedIn = (of: typeof app) => of.store.desk.archive(DEMO).storyBySlug(name.replace('.md', ''))?.published_at;
    const shift = (airedIn(app) ?? 0) - Date.UTC(2026, 10, 17, 6, 50);
    const newest = Date.UTC(2026, 10, 21, 11, 40) + shift;
    assert.ok(shift % DAY === 0 && newest <= now && newest > now - DAY, new Date(newest).toISOString());
    assert.deepEqual(castsOf(app), [new Date(Date.UTC(2026, 10, 16) + shift).toISOString().slice(0, 10)]);

    const file = join(folder, 'ledger.jsonl');
    await exportLedger(intakeOf(app), file);
    clock.now += 4 * DAY + 1;
    const other = tempFolder(t);
    const copy = appContextIn(t, other, clock, { DEMO_DATES: 'on' });
    await importLedger(intakeOf(copy), file);
    folderWith(other, DEMO);
    const { filed, problems } = await fileContent(intakeOf(copy));
    assert.deepEqual([filed, problems], [[], []], 'its files are the same four days later');
    assert.deepEqual([airedIn(copy), castsOf(copy)], [airedIn(app), castsOf(app)]);
  });
}
