import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { auditApp } from '../../../src/operate/audit/audit.ts';
import { DAY, dayOf, HOUR, isoTime } from '../../../src/proof/time.ts';
import type { ArchiveObject } from '../../../src/records/archive/manifest.ts';
import { type ArchiveReader, ObjectChanged, type RangeSource } from '../../../src/records/archive/reader.ts';
import { observationReads, readsOf } from '../../../src/records/archive/reads.ts';
import { seedsOf, sourceOf } from '../../../src/records/archive/sources.ts';
import { putExpectations } from '../../../src/records/declared-expectations.ts';
import { parseHostname } from '../../../src/records/hostname.ts';
import { tempFolder } from '../../support/app-context.ts';
import { archiveAll, folderPlace } from '../../support/archive.ts';
import { certificate, probe } from '../../support/probes.ts';
import * as fc from '../../support/properties.ts';
import { type RecordsStand, recordsStand } from '../../support/records-fixture.ts';
import { listed } from './archived.ts';

/** The 29th, so that a month ends among the days. */
const START = Date.UTC(2026, 9, 29, 12);
const NAMES = ['bücher.example', 'a.bücher.example', 'www.example.org', 'example.org'].map(
  (name) => parseHostname(name).hostname,
);

async function stand(t: TestContext): Promise<RecordsStand & { folder: string; key: string }> {
  const folder = join(tempFolder(t), 'archive');
  const settings = { ARCHIVE_URL: folder, KEYED_PER_MINUTE: '1000000', KEYED_DAILY: '1000000' };
  const opened = await recordsStand(t, settings, START);
  return { ...opened, folder, key: opened.keyOf('account') };
}

/** What each host shows on each day: an address, and some texts; null where it is not probed. */
const days = fc.array(
  fc.array(
    fc.option(
      fc.record({
        a: fc.constantFrom<string>('192.0.2.1', '192.0.2.2', '192.0.2.3'),
        txt: fc.array(
          fc.string({ maxLength: 12 }).map((text) => text.replace(/[^\x20-\x7e]/g, '.')),
          { maxLength: 2 },
        ),
        times: fc.constantFrom<number>(1, 1, 1, 3),
      }),
      { freq: 4 },
    ),
    { minLength: NAMES.length, maxLength: NAMES.length },
  ),
  { minLength: 2, maxLength: 6 },
);

function observe(
  { enter, clock, app }: RecordsStand,
  seen: typeof days extends fc.Arbitrary<infer T> ? T : never,
): void {
  app.store.records.watch(NAMES.map(parseHostname), clock.now);
  // Events of an expectation name observations.
  const account = app.store.records.accounts.ofEmail('ada@example.org', { id: '', plan: 'daily', made_at: 0 }).id;
  putExpectations(app, account, { 'example.org': { A: { values: ['192.0.2.1'] } } });
  app.store.database.transact(() => {
    for (const [day, hosts] of seen.entries()) {
      for (const [n, shown] of hosts.entries()) {
        for (let time = 0; time < (shown?.times ?? 0); time++) {
          const at = START + day * DAY + n * 1_000 + time * HOUR;
          const answers = {
            A: [shown?.a ?? ''],
            TXT: [...new Set(shown?.txt)].sort(),
            SOA: [`ns. host. ${day}${time} 1 1 1 1`],
          };
          enter(probe(NAMES[n] ?? '', at, answers, certificate(String(day))));
        }
      }
    }
    clock.now = START + (seen.length + 1) * DAY;
  });
}

/** Everything that anybody reads of these hosts, by address. */
async function answers({ url, key, app, clock }: RecordsStand & { key: string }): Promise<Map<string, unknown>> {
  const found = new Map<string, unknown>();
  const read = async (path: string, headers: Record<string, string> = { authorization: `Bearer ${key}` }) => {
    const answer = await fetch(url + path, { headers });
    const text = await answer.text();
    found.set(`${path} ${headers.accept ?? ''}`, [answer.status, text, answer.headers.get('etag')]);
    return text;
  };
  const pages = async (path: string) => {
    for (let next: string | null = path; next !== null; ) {
      const body = JSON.parse(await read(next)) as { next_cursor?: string | null };
      next = body.next_cursor == null ? null : `${path}&cursor=${encodeURIComponent(body.next_cursor)}`;
    }
  };
  const whole = [dayOf(START - DAY)];
  for (let at = START; at <= clock.now; at += DAY) whole.push(dayOf(at));
  for (const name of NAMES) {
    if (app.store.records.find(name)?.seq == null) continue;
    await read(`/v1/domains/${name}`);
    for (const at of [...whole, isoTime(START + DAY + 1_500)]) {
      await read(`/v1/domains/${name}?as_of=${at}`);
      await read(`/t/${name}?as_of=${at}`, { accept: 'application/json' });
    }
    for (const query of ['', `?as_of=${whole[2]}`]) await read(`/t/${name}${query}`, { accept: 'text/html' });
    await pages(`/v1/domains/${name}/history?limit=2`);
    await pages(`/v1/domains/${name}/series?limit=2`);
    await pages(`/v1/domains/${name}/series?limit=3&since=${whole[2]}&until=${whole[3]}`);
    await pages(`/v1/domains/${name}/provenance?limit=2`);
    await pages(`/v1/changes?domain=${name}&limit=50`);
    await read(`/v1/exports/domains/${name}.csv`);
    await read(`/v1/exports/domains/${name}/evidence.json`);
    await read(`/badge/${name}.svg`);
  }
  for (const path of [
    '/v1/domains',
    '/v1/search?q=192.0.2.1',
    '/v1/exports/changes.csv',
    '/v1/tape',
    '/v1/analytics',
    '/v1/account/expectations',
  ])
    await read(path);
  return found;
}

function compare(before: Map<string, unknown>, after: Map<string, unknown>): void {
  assert.deepEqual([...after.keys()], [...before.keys()]);
  for (const [path, answer] of before) {
    const [was, is] = [JSON.stringify(answer), JSON.stringify(after.get(path))];
    const from = [...was].findIndex((character, n) => is[n] !== character);
    assert(was === is, `${path}: …${is.slice(from - 60, from + 60)}… and not …${was.slice(from - 60, from + 60)}…`);
  }
}

test('every answer is the same before and after the days left the database', async (t) => {
  await fc.assert(
    fc.asyncProperty(days, fc.nat(5), async (seen, later) => {
      const one = await stand(t);
      observe(one, seen);
      const before = await answers(one);
      assert(before.size > 10 || seen.flat().every((shown) => shown === null));
      const place = folderPlace(one.folder);
      const { now } = one.clock;
      // First those that closed some days ago, then all: the first are in a month's file by then, the last in a day's.
      one.clock.now = now - later * DAY;
      await archiveAll(one.app, place);
      one.clock.now = now;
      compare(before, await answers(one));
      await archiveAll(one.app, place);
      const left = one.app.store.records.observationTotals().count;
      assert(left <= NAMES.length, `${left} observations are still here`);
      compare(before, await answers(one));
    }),
    { numRuns: process.env.WIDE === undefined ? 1 : 10 },
  );
});

test('without its archive the service refuses what it cannot know, and answers the rest', async (t) => {
  const one = await stand(t);
  const day = (a: string) => NAMES.map(() => ({ a, txt: [], times: 1 }));
  observe(one, [day('192.0.2.1'), day('192.0.2.2'), day('192.0.2.3')]);
  await archiveAll(one.app, folderPlace(one.folder));
  renameSync(one.folder, `${one.folder}.away`);
  const name = 'example.org';
  const old = isoTime(START + HOUR);
  for (const path of [
    `/v1/domains/${name}?as_of=${old}`,
    `/t/${name}?as_of=${old}`,
    `/v1/domains/${name}/series`,
    `/v1/domains/${name}/series?until=${old}`,
    `/v1/domains/${name}/provenance`,
    `/v1/exports/domains/${name}.csv`,
    `/v1/exports/domains/${name}/evidence.json`,
  ]) {
    const answer = await fetch(one.url + path, { headers: { authorization: `Bearer ${one.key}` } });
    assert.equal(answer.status, 503, path);
    assert(Number(answer.headers.get('retry-after')) > 0, path);
    assert(!(await answer.text()).includes(one.folder), 'where the archive is is nobody’s business');
  }
  for (const path of [
    `/v1/domains/${name}`,
    `/t/${name}`,
    `/v1/domains/${name}/history`,
    `/v1/changes?domain=${name}`,
    `/badge/${name}.svg`,
  ]) {
    const answer = await fetch(one.url + path, { headers: { authorization: `Bearer ${one.key}` } });
    assert.equal(answer.status, 200, path);
  }
  const early = await fetch(`${one.url}/v1/domains/${name}?as_of=${isoTime(START - DAY)}`, {
    headers: { authorization: `Bearer ${one.key}` },
  });
  assert.equal(early.status, 404, 'what was before the first observation needs no archive');
  renameSync(`${one.folder}.away`, one.folder);
  const host = one.app.store.records.find(name);
  assert(host !== null);
  assert.equal((await readsOf(one.app).asOf(host, START + HOUR))?.seq, 4);
  await assert.rejects(readsOf({ store: one.app.store, archive: null }).asOf(host, START + HOUR), /set ARCHIVE_URL/);
});

test('objects that are replaced meanwhile are looked for again; what is missing is no shorter list', async (t) => {
  const one = await stand(t);
  const day = (a: string) => NAMES.map(() => ({ a, txt: [], times: 1 }));
  observe(one, [day('192.0.2.1'), day('192.0.2.2'), day('192.0.2.3')]);
  const { store } = one.app;
  const host = store.records.find('example.org');
  assert(host !== null);
  const place = folderPlace(one.folder);
  await archiveAll(one.app, place);
  let changes = 0;
  let objects = store.records.archive.objectsFor;
  const reader = {
    objectsFor: (hash: string, path: string) => objects(hash, path),
    source: (object: ArchiveObject): RangeSource => {
      const source = sourceOf(place, object);
      const read = async (start: number, end: number) => {
        if (changes-- > 0) throw new ObjectChanged(object.key);
        return source.read(start, end);
      };
      return { ...source, read };
    },
    seeds: (object: ArchiveObject, row: number, count: number) => seedsOf(place, object, row, count),
  } as ArchiveReader;
  const reads = observationReads(store, () => reader);
  const numbers = async () => (await reads.provenance(host, 9)).map(({ seq }) => seq);
  const all = await numbers();
  assert.equal(all.length, 3);
  changes = 2;
  assert.deepEqual(await numbers(), all);
  changes = Number.POSITIVE_INFINITY;
  await assert.rejects(numbers(), /is being rewritten/);
  changes = 0;
  objects = (hash, path) => store.records.archive.objectsFor(hash, path).slice(1);
  for (const read of [
    numbers,
    () => reads.asOf(host, START + HOUR),
    () => reads.page(host, {}, 9),
    () => listed(reads.all(host)),
  ]) {
    const said = await read().then(() => '', String);
    assert.match(said, /left the database/);
  }
});

test('a correction of the clock that comes after the archive counts in it', async (t) => {
  const one = await stand(t);
  const day = (a: string) => NAMES.map(() => ({ a, txt: [], times: 1 }));
  observe(one, [day('192.0.2.1'), day('192.0.2.2'), day('192.0.2.3')]);
  const { store } = one.app;
  const host = store.records.find('example.org');
  assert(host !== null);
  const numbersAt = async (reads: ReturnType<typeof readsOf>, at: number) => (await reads.asOf(host, at))?.seq;
  const second = await numbersAt(readsOf(one.app), START + DAY + HOUR);
  await archiveAll(one.app, folderPlace(one.folder));
  // The second day was in truth an hour after the first one.
  const corrections = [{ first: second ?? 0, last: second ?? 0, time: START + HOUR }];
  const reads = readsOf({
    store: { ...store, desk: { ...store.desk, corrections: () => corrections } },
    archive: one.app.archive,
  });
  assert.equal(await numbersAt(reads, START + HOUR), second);
  assert.notEqual(await numbersAt(reads, START + HOUR / 2), second);
  const since = START + 2 * HOUR;
  assert.equal(await reads.countBetween(host, { since }), 1);
  assert.equal(await readsOf(one.app).countBetween(host, { since }), 2);
});

test('what comes late, to a second file of its day, is read in its order', async (t) => {
  const opened = await stand(t);
  const { enter, clock, app, folder } = opened;
  // Both are in one bucket, and the other one's last row of the day is later than what comes late.
  const [late = '', other = ''] = NAMES;
  const look = (name: string, at: number) => enter(probe(name, at, { SOA: [`ns. host. ${at}`] }, certificate('a')));
  look(late, START);
  look(other, START + 10 * HOUR);
  clock.now = START + DAY;
  await archiveAll(app, folderPlace(folder));
  look(late, START + HOUR);
  for (const name of [late, other]) look(name, START + 2 * DAY);
  clock.now = START + 2 * DAY + HOUR;
  const before = await answers(opened);
  await archiveAll(app, folderPlace(folder));
  compare(before, await answers(opened));
  assert.deepEqual((await auditApp(app, { archive: true, trees: false })).faults, []);
});
