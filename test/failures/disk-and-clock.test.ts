import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { REST } from '../../src/shared/workers/poll.ts';
import { tempFolder } from '../support/app-context.ts';
import { run } from '../support/program.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { PAPER, type Stand, standIn, within } from './fixture.ts';
import { buildShim, DISK_ERROR } from './shim.ts';
import { documented, span } from './table.ts';

// What this machine's disk and clock may do to a server that runs. A library that is loaded before libc's own answers
// every write, sync and question for the time, in all threads.

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const READ = 'front 200, story 200, search 200';
const REFUSED = 'a request could not be answered';

test('a disk that takes no writes or is slow, and a clock that steps, lose nothing', { skip: ONLY_WIDE }, async (t) => {
  const folder = tempFolder(t);
  const shim = buildShim(folder);
  if (shim === null) return t.skip('needs Linux and a C compiler (cc)');
  const disk = join(folder, 'on-disk');
  mkdirSync(disk);
  const stand = await standIn(t, disk, shim.env);
  const kept: string[] = [];
  const filed = async (slug: string, air?: string): Promise<string> => {
    const outcome = await stand.filing(slug, air);
    if (outcome === '201') kept.push(slug);
    return outcome;
  };

  for (const [failure, name, state] of [
    ['Disk full', 'full', 'full'],
    ['Disk read-only', 'readOnly', 'read_only'],
  ] as const) {
    await stand.logged();
    shim.set({ writesFail: DISK_ERROR[name] });
    const writers = await filed(`${name.toLowerCase()}-1`);
    for (let n = 2; n < 12; n++) assert.equal(await filed(`${name.toLowerCase()}-${n}`), writers);
    const readers = await stand.reading();
    assert.equal(readers, READ);
    assert.equal((await stand.health()).disk, state);
    const log = await stand.logged();
    assert.equal(log.get(REFUSED), 1, 'once for all requests');
    for (const [message, times] of log) assert.ok(times <= 2, `“${message}” is logged ${times} times`);
    shim.set({});
    const again = await filed(`${name.toLowerCase()}-again`);
    assert.equal(again, '201');
    await settled(stand);
    assert.equal((await stand.health()).disk, null);
    documented({
      failure,
      readers,
      writers,
      told: `\`/health\`: \`disk\` \`${state}\`; log: “${REFUSED}”, and each job that writes, once`,
      after: `the next filing: ${again}; jobs that failed are tried again after ${span(REST)}, and work`,
    });
  }

  await stand.logged();
  shim.set({ syncTakes: 500 });
  const start = performance.now();
  const slow = await filed('slow');
  const took = performance.now() - start;
  assert.ok(took > 500, 'it waits for the disk');
  const readers = await stand.reading();
  assert.equal(readers, READ);
  assert.ok(((await stand.logged()).get('the event loop was held up') ?? 0) > 0);
  shim.set({});
  const after = await filed('no-longer-slow');
  assert.equal(await stand.reading(), READ);
  documented({
    failure: 'Disk slow (each sync takes 500 ms)',
    readers: `${readers}, some of them seconds later: commits hold up the whole server`,
    writers: `${slow}, after several seconds: the answer waits until the piece is on disk and pressed`,
    told: '`/health`: `event_loop_delay_max_ms`; log: “the event loop was held up”, with the job that did',
    after: `the next filing: ${after}; nothing has to catch up`,
  });

  assert.equal(await stand.filing('due', new Date(Date.now() + HOUR / 2).toISOString()), '201');
  for (const [failure, name, by] of [
    ['Clock steps ahead, 1 year', 'ahead', 365 * DAY],
    ['Clock steps back, 1 day', 'back', -DAY],
    ['Clock steps ahead, 1 hour, and back', 'there-and-back', HOUR],
  ] as const) {
    await stand.logged();
    shim.set({ clockIsOffBy: by });
    const writers = (await filed(`clock-${name}`)).replace(/\d{4}-\d\d-\S+?Z/g, '…');
    assert.match(writers, /^503 `unavailable`: “nothing is signed: the clock here says …, and /);
    const seen = await stand.reading();
    assert.equal(seen, READ);
    assert.match(String((await stand.health()).clock_fault), /^the clock here says /);
    assert.ok(await within(30_000, () => stand.seen(/the clock is wrong/)));
    const command = await run(t, disk, ['air', 'due', '--paper', PAPER], shim.env);
    assert.match(
      command.stderr,
      /nothing is signed: the clock here says /,
      'commands on this machine sign nothing either',
    );
    assert.equal(await stand.isShown('due'), false, 'nothing is due by a wrong clock');
    shim.set({});
    const again = await filed(`clock-${name}-again`);
    assert.equal(again, '201');
    assert.equal((await stand.health()).clock_fault, null);
    assert.ok(await within(30_000, () => stand.seen(/the clock is right again/)));
    assert.ok(
      Math.abs((await stand.airedAt(`clock-${name}-again`)) - Date.now()) < HOUR / 2,
      'dated by the right time',
    );
    documented({
      failure,
      readers: seen,
      writers,
      told: '`/health`: `clock_fault`; `doctor`: clock; log: “nothing is signed: the clock is wrong”, once',
      after: `the next filing: ${again}; what fell due meanwhile goes on air; nothing has a wrong time`,
    });
  }
  const slightly = 4 * MINUTE;
  shim.set({ clockIsOffBy: -slightly });
  const filings = [filed('slightly'), filed('slightly-b')];
  shim.set({});
  assert.deepEqual(await Promise.all(filings), ['201', '201']);
  assert.ok(await within(30_000, async () => (await stand.isShown('slightly')) && (await stand.isShown('slightly-b'))));
  documented({
    failure: 'Clock is 4 minutes off, and set right during requests',
    readers: await stand.reading(),
    writers: '201',
    told: 'nowhere: up to 5 minutes are taken as they are',
    after: 'nothing has to catch up; no piece is of an earlier time than the one before it',
  });
  shim.set({});
  await settled(stand);
  await stand.assertKept(kept);
});

/** Jobs that failed have said that they work again. */
async function settled({ serving }: Stand): Promise<void> {
  const failing = () => {
    const jobs = new Map<string, boolean>();
    for (const line of serving.said.log.split('\n').filter((one) => /"job":/.test(one))) {
      const { job, level, msg } = JSON.parse(line) as { job: string; level: number; msg: string };
      if (level === 50) jobs.set(job, false);
      if (msg === 'the job works again') jobs.set(job, true);
    }
    return [...jobs].filter(([, works]) => !works).map(([job]) => job);
  };
  assert.ok(await within(30_000, () => failing().length === 0), `still failing: ${failing().join(', ')}`);
}
