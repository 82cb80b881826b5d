import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { airStory, withdrawStory } from '../../src/desk/airing.ts';
import { append } from '../../src/desk/append.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { exportLedger } from '../../src/desk/ingest/ledger-export.ts';
import { importLedger } from '../../src/desk/ingest/ledger-import.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { auditApp } from '../../src/operate/audit/audit.ts';
import { deskOf, intakeOf } from '../../src/server/context.ts';
import {
  appContextIn,
  createPaper,
  filing,
  PAPER,
  PERSONAS,
  SECTIONS,
  tempFolder,
  treeOf,
} from '../support/app-context.ts';
import { freePort } from '../support/free-port.ts';
import { writeStory } from '../support/papers.ts';
import { copyDemo, run, runAlone, serve } from '../support/program.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const START = Date.parse('2026-11-20T12:00:00Z');
const HOUR = 3_600_000;
/** More pieces than a page of a section lists; a push has them come in the last step, because each step looks at all. */
const MANY = 33;
const AT_FIRST = ONLY_WIDE === false ? MANY : 8;

test('an audit finds no fault after any operation, and lists stale files before they are pressed', {
  skip: ONLY_WIDE,
}, async (t) => {
  const clock = { now: START };
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, clock);
  const { store } = app;
  const desk = deskOf(app);
  const by = { by: 'cli' };
  const wait = (hours: number): void => {
    clock.now += hours * HOUR;
  };
  const record = (kind: 'paper' | 'persona', name: string, more: object) =>
    store.database.transact(() => {
      const body = { ...(store.desk.record(PAPER, kind, name) as object), ...more };
      append(store.desk, { type: 'record', at: clock.now, paper: PAPER, kind, name, body });
    });
  const olds = (from: number, to: number, persona = PERSONAS[0] ?? ''): void => {
    for (let n = from; n < to; n++) {
      fileStory(desk, PAPER, filing(`old-${n}`, { persona }), by);
      airStory(desk, PAPER, `old-${n}`, { ...by, at: clock.now - n * 40 * HOUR });
    }
  };
  const steps: [claim: string, step: () => void][] = [
    ['a paper founded', () => createPaper(app)],
    ['a draft', () => fileStory(desk, PAPER, filing('ebb'), by)],
    ['on air', () => airStory(desk, PAPER, 'ebb', by)],
    [
      'revised',
      () => fileStory(desk, PAPER, filing('ebb', { headline: 'Low "tide" & <more>', correction: 'Late.' }), by),
    ],
    ['dates of the past', () => olds(0, AT_FIRST)],
    ['moved to another section', () => fileStory(desk, PAPER, filing('old-7', { category: SECTIONS[1] ?? '' }), by)],
    ['withdrawn', () => withdrawStory(desk, PAPER, 'old-3', { ...by, reason: 'It was wrong.' })],
    ['the notice revised', () => fileStory(desk, PAPER, filing('old-3', { headline: 'Another' }), by)],
    ['on its way back', () => airStory(desk, PAPER, 'old-3', { ...by, at: clock.now + HOUR })],
    [
      'scheduled',
      () => {
        fileStory(desk, PAPER, filing('flow'), by);
        airStory(desk, PAPER, 'flow', { ...by, at: clock.now + 2 * HOUR });
      },
    ],
    ['one of two due', () => wait(1.5)],
    ['the news aged', () => wait(60)],
    ['a persona renamed', () => record('persona', PERSONAS[0] ?? '', { name: 'Ida Vale', active: false })],
    ['a section closed', () => record('paper', '', { sections: SECTIONS.slice(0, 1) })],
    ['private', () => record('paper', '', { paper_public: false })],
    ['public again', () => record('paper', '', { paper_public: true, hue: 30 })],
    ['a second page of a section', () => olds(AT_FIRST, MANY, PERSONAS[1])],
  ];
  for (const [claim, step] of steps) {
    clock.now += 1_000;
    step();
    const early = ONLY_WIDE === false ? (await auditApp(app)).faults : [];
    assert.ok(
      early.every((fault) => /waits? for the press/.test(fault)),
      `${claim}, before the press: ${early.join('; ')}`,
    );
    await pressPapers(app);
    assert.deepEqual((await auditApp(app)).faults, [], claim);
  }
  assert.deepEqual((await auditApp(app, { deep: true })).faults, []);
  assert.ok(treeOf(join(folder, 'papers', PAPER)).size > 100, 'there was something to look at');
});

test('under a clock that was set back an audit finds nothing, and an import puts nothing on air before its time', async (t) => {
  const clock = { now: START };
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, clock);
  const by = { by: 'cli' };
  createPaper(app);
  for (const slug of ['tide', 'embargoed']) fileStory(deskOf(app), PAPER, filing(slug), by);
  clock.now = START - 2 * HOUR;
  airStory(deskOf(app), PAPER, 'embargoed', { ...by, at: START - HOUR });
  // Its receipt may not be older than the one before it, and so is ahead of the clock and of the embargo.
  fileStory(deskOf(app), PAPER, filing('flood'), by);
  const waits = /waits? for the press/;
  assert.deepEqual(
    (await auditApp(app)).faults.filter((fault) => !waits.test(fault)),
    [],
  );
  assert.equal(app.store.desk.archive(PAPER).storyBySlug('embargoed')?.state, 'scheduled');

  const file = join(folder, 'ledger.jsonl');
  await exportLedger(intakeOf(app), file);
  const other = appContextIn(t, tempFolder(t), clock);
  await importLedger(intakeOf(other), file);
  assert.equal(other.store.desk.archive(PAPER).storyBySlug('embargoed')?.state, 'scheduled');

  clock.now = START - HOUR;
  fileStory(deskOf(app), PAPER, filing('wrack'), by);
  assert.equal(app.store.desk.archive(PAPER).storyBySlug('embargoed')?.state, 'on_air');
  assert.deepEqual(
    (await auditApp(app)).faults.filter((fault) => !waits.test(fault)),
    [],
  );
});

test('an audit of a paper that changes meanwhile reports faults and not the changes', {
  skip: ONLY_WIDE,
}, async (t) => {
  const clock = { now: START };
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, clock);
  createPaper(app);
  const air = (slug: string) => {
    fileStory(deskOf(app), PAPER, filing(slug), { by: 'cli' });
    airStory(deskOf(app), PAPER, slug, { by: 'cli' });
  };
  air('tide');
  await pressPapers(app);
  let changes = 0;
  let pressing: Promise<unknown> = Promise.resolve();
  const progress = (label: string, done: number, total: number) => {
    if (label !== `audit ${PAPER}`) return;
    if (done === 1) {
      // After the stale dependencies were read, and before the pages are compared.
      clock.now += 1_000;
      air(`flow-${++changes}`);
    } else if (done === total) {
      pressing = pressing.then(() => pressPapers(app));
    }
  };
  const said = async () => (await auditApp(app, { progress })).faults;
  const found = async () => (await said()).filter((fault) => !/waits? for the press/.test(fault));
  assert.match((await said()).join('; '), /^harbor-ledger: stale files wait for the press; run [^;]*$/);
  await pressing;
  assert.ok(changes > 3, `it was looked at ${changes} times`);
  rmSync(join(folder, 'papers', PAPER, 'stories', 'tide', 'index.html'));
  const faults = await found();
  await pressing;
  assert.equal(faults.length, 1, faults.join('; '));
  assert.match(faults[0] ?? '', /stories\/tide\/index\.html/);
});

test('an audit beside a press of every file says only that it waits for it', { skip: ONLY_WIDE }, async (t) => {
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, { now: START });
  createPaper(app);
  fileStory(deskOf(app), PAPER, filing('tide'), { by: 'cli' });
  await pressPapers(app);
  const { manifest } = app.store.desk;
  // As another process leaves it in the middle of its work: a file is on disk before the manifest lists it.
  assert.ok(manifest.acquireLease(PAPER, 'elsewhere:1:0', Date.now(), 30_000));
  manifest.setStamp(PAPER, '');
  manifest.begin(PAPER);
  writeFileSync(join(folder, 'papers', PAPER, 'written-just-now.html'), '');
  const beside = await auditApp(app);
  assert.equal(beside.faults.length, 1, beside.faults.join('; '));
  assert.match(
    beside.faults[0] ?? '',
    /^harbor-ledger: its files were not checked: a press is running and every file waits for it/,
  );
  assert.equal(beside.files, 0);

  manifest.releaseLease(PAPER, 'elsewhere:1:0');
  const after = (await auditApp(app)).faults;
  assert.match(after.join('; '), /written-just-now\.html: the manifest does not list this file/);
});

test('an audit beside a server that files and presses finds nothing', { skip: ONLY_WIDE }, async (t) => {
  const folder = tempFolder(t);
  copyDemo(folder);
  const port = String(await freePort());
  const { url } = await serve(t, folder, { PORT: port });
  let audits = 0;
  let done = false;
  const auditing = (async () => {
    while (!done) {
      const { stdout } = await runAlone(t, folder, ['audit'], { ORIGIN: url });
      const faults = stdout.split('\n').slice(0, -2);
      assert.deepEqual(
        faults.filter((fault) => !/waits? for the press/.test(fault)),
        [],
      );
      audits++;
    }
  })();
  for (let n = 0; n < 8; n++) {
    const file = writeStory(folder, `beside-${n}`, { air: new Date().toISOString() });
    assert.equal((await run(t, folder, ['file', file], { ORIGIN: url })).code, 0);
  }
  done = true;
  await auditing;
  assert.ok(audits > 0);
});
