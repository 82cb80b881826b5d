import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { REST } from '../../src/app/jobs/poll.ts';
import { tempFolder } from '../support/app-context.ts';
import { buildShim, DISK_ERROR } from './shim.ts';
import { type Stand, standIn, within } from './stand.ts';
import { documented, span } from './table.ts';

// What this machine's disk and clock may do to a server that runs. A library that is loaded before libc's own answers
// every write, sync and question for the time, in all threads.

const HOUR = 3_600_000;
const READ = 'front 200, story 200, search 200';
const REFUSED = 'a request could not be answered';

test('a disk that takes no writes or is slow, and a clock that steps, lose nothing', async (t) => {
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

  assert.equal(await filed('due', new Date(Date.now() + HOUR / 2).toISOString()), '201');
  for (const [failure, by, after, isSo] of [
    [
      'Clock steps forward, 1 hour',
      HOUR,
      'pieces filed meanwhile keep that time; what was due within the hour is done',
      async (slug: string) => (await stand.isShown('due')) && (await stand.airedAt(slug)) > Date.now() + HOUR / 2,
    ],
    [
      'Clock steps back, 1 hour',
      0,
      'pieces filed meanwhile are shown at once, with a time that is not before the last one',
      async (slug: string) => (await stand.airedAt(slug)) >= (await stand.airedAt('clock-3600000')),
    ],
    [
      'Clock is 20 minutes off, and set right during requests',
      -HOUR / 3,
      'nothing has to catch up',
      async (slug: string) => (await stand.isShown(slug)) && (await stand.isShown(`${slug}-b`)),
    ],
  ] as const) {
    shim.set({ clockIsOffBy: by });
    const slug = `clock-${by < 0 ? 'behind' : by}`;
    const filings = [filed(slug), filed(`${slug}-b`)];
    if (by < 0) shim.set({});
    const outcomes = await Promise.all(filings);
    assert.deepEqual(outcomes, ['201', '201']);
    assert.ok(await within(30_000, () => stand.isShown(slug)));
    assert.ok(await within(30_000, () => isSo(slug)), after);
    const seen = await stand.reading();
    assert.deepEqual(
      [...(await stand.logged()).keys()].filter((message) => message !== 'the event loop was held up'),
      [],
    );
    documented({
      failure,
      readers: seen,
      writers: '201',
      told: '`doctor`: clock, when it is behind the newest record',
      after,
    });
  }
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
