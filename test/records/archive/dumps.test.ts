import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { auditApp } from '../../../src/operate/audit/audit.ts';
import { dumpIn } from '../../../src/proof/dump-note.ts';
import { previewOf } from '../../../src/proof/records/preview.ts';
import { DAY, HOUR } from '../../../src/proof/time.ts';
import { dumpIndex, dumpOf } from '../../../src/records/dumps.ts';
import { parseHostname, pathOf } from '../../../src/records/hostname.ts';
import { runArchiver } from '../../../src/records/jobs/archive-run.ts';
import { runDumps } from '../../../src/records/jobs/dump-run.ts';
import { eraseName } from '../../../src/records/jobs/erasure.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { type DumpPlace, openDumpPlace } from '../../../src/shared/storage/dump-place.ts';
import { correctClock } from '../../../src/signing/clock/correct-clock.ts';
import { appContextIn, type Clock, fileScope, type Scope, tempFolder } from '../../support/app-context.ts';
import { Killed, NAMES, NOON, observeDays } from '../../support/archive.ts';
import { namesByDay, ndjsonRows, parquetRows, textIn } from '../../support/dumps.ts';
import { probe } from '../../support/probes.ts';
import { recordProbes } from '../../support/records-fixture.ts';
import { BUCKET, S3Server, storeEnv } from '../../support/s3-server.ts';
import { ONLY_WIDE } from '../../support/wide.ts';

/** Days around the end of a month; the last one is not closed. */
const DAYS = ['2026-10-29', '2026-10-30', '2026-10-31'];
const IN_ORDER = ['a.example', 'www.a.example', 'c.test'];
let model = '';

const scope = fileScope();
before(() => {
  model = tempFolder(scope);
  const clock = { now: NOON };
  const app = appContextIn(scope, model, clock);
  // What only a group of an account watches is its own.
  app.store.records.watchForGroup(parseHostname('private.example'), NOON);
  observeDays(app, clock, 4, [...NAMES, 'private.example', 'gone.test']);
  app.store.records.optOut(parseHostname('gone.test'), 'asked', 'cli', clock.now);
  app.close();
});

function opened(t: Scope, more: Record<string, string> = {}) {
  const folder = tempFolder(t);
  cpSync(join(model, 'var'), join(folder, 'var'), { recursive: true });
  const clock = { now: NOON + 3 * DAY + HOUR };
  const dumps = join(folder, 'dumps');
  const app = appContextIn(t, folder, clock, { DUMPS_URL: dumps, ...more });
  return { app, clock, folder, dumps };
}

const look = (app: AppContext, clock: Clock, name: string, at: number) =>
  app.store.database.transact(() => recordProbes(app, clock, [probe(name, at, { A: ['192.0.2.9'] })]));

async function requireSound(app: AppContext, dumps: string): Promise<void> {
  const { days } = dumpIndex(app);
  for (const { day, generation, rows, note, files } of days) {
    const said = dumpIn(note);
    assert.equal(said?.day, day);
    assert.deepEqual([said.generation, said.rows], [generation, rows]);
    for (const { format, name, bytes, sha256 } of files) {
      const file = readFileSync(join(dumps, name));
      assert.equal(file.length, bytes);
      assert.equal(createHash('sha256').update(file).digest('hex'), sha256);
      assert.equal(said[format], `sha256:${sha256}`);
    }
  }
  const named = days.flatMap(({ files }) => files.map(({ name }) => name));
  assert.deepEqual(readdirSync(dumps).toSorted(), [...named, 'index.json'].toSorted());
  assert.deepEqual(JSON.parse(readFileSync(join(dumps, 'index.json'), 'utf8')), dumpIndex(app));
  assert.deepEqual((await auditApp(app, { trees: false })).faults, []);
}

/** A folder for an archive, as an operator makes it. */
function archiveIn(folder: string): string {
  mkdirSync(join(folder, 'archive'));
  return join(folder, 'archive');
}

test('each closed day has a dump of what previews show of the names that the operator watches', async (t) => {
  const { app, dumps } = opened(t);
  assert.equal(await runDumps(app), true);
  assert.deepEqual(await namesByDay(app, dumps), Object.fromEntries(DAYS.map((day) => [day, IN_ORDER])));
  await requireSound(app, dumps);
  const { records } = app.store;
  for (const [n, day] of DAYS.entries()) {
    const wanted = IN_ORDER.map((name) => {
      const [one] = records.observationPage(records.find(name)?.id ?? 0, { since: Date.parse(day) }, 1);
      assert.ok(one);
      return previewOf(one);
    });
    const [parquet, ndjson] = dumpOf(app, day)?.files.map(({ name }) => readFileSync(join(dumps, name))) ?? [];
    assert.ok(parquet && ndjson);
    assert.deepEqual(ndjsonRows(ndjson), wanted, `${n}`);
    const rows = (await parquetRows(parquet)).map((row) => ({ ...row, seq: Number(row.seq) }));
    assert.deepEqual(
      rows,
      wanted.map(({ domain, unicode, registrable_domain, seq, observed_at, receipt, ...more }) => ({
        ...{ path: pathOf(domain), domain, unicode, registrable_domain, seq, observed_at: new Date(observed_at) },
        ...{ nameservers: JSON.stringify(more.nameservers), summary: JSON.stringify(more.summary) },
        ...{ receipt, disclosures: JSON.stringify(more.disclosures) },
      })),
    );
  }
  const before = readFileSync(join(dumps, 'index.json'), 'utf8');
  assert.equal(await runDumps(app), true);
  assert.equal(readFileSync(join(dumps, 'index.json'), 'utf8'), before, 'a second run makes nothing');
});

test('an opt-out withholds the days of its names at once, and the next run replaces them', async (t) => {
  const { app, clock, dumps } = opened(t);
  look(app, clock, 'late.test', NOON + 3 * DAY + 2 * HOUR);
  await runDumps(app);
  app.store.records.optOut(parseHostname('a.example'), 'asked', 'cli', clock.now);
  assert.deepEqual(dumpIndex(app), { v: 1, days: [], withheld: DAYS.toReversed() });
  await runDumps(app);
  assert.deepEqual(await namesByDay(app, dumps), Object.fromEntries(DAYS.map((day) => [day, ['c.test']])));
  assert.ok(!/a\.example|example\.a/.test(await textIn(dumps)), 'no file has it any more');
  await requireSound(app, dumps);
  const entry = dumpOf(app, '2026-10-30');
  assert.deepEqual([entry?.generation, entry?.why], [2, 'opted_out']);
  assert.deepEqual(
    entry?.replaced.map(({ generation, why }) => [generation, why]),
    [[1, 'opted_out']],
  );
  app.store.records.optOut(parseHostname('late.test'), 'asked', 'cli', clock.now);
  assert.equal(app.store.records.dumps.dueCount(), 0, 'nothing is due of a name that no dump has');
});

test('erasing a name takes it out of the dumps, also where observations left for the archive', async (t) => {
  const folder = tempFolder(t);
  const { app, clock, dumps } = opened(t, { ARCHIVE_URL: archiveIn(folder) });
  await runDumps(app);
  await runArchiver(app);
  eraseName(app, parseHostname('c.test'), 'asked');
  assert.deepEqual(dumpIndex(app).withheld, DAYS.toReversed());
  await runArchiver(app);
  await runDumps(app);
  assert.deepEqual(
    await namesByDay(app, dumps),
    Object.fromEntries(DAYS.map((day) => [day, ['a.example', 'www.a.example']])),
  );
  assert.ok(!/c\.test|test\.c/.test(await textIn(dumps)));
  clock.now += DAY;
  await runArchiver(app);
  assert.deepEqual((await auditApp(app, { archive: true, trees: false })).faults, []);
});

test('observations that left for the archive give the same bytes', async (t) => {
  const here = opened(t);
  await runDumps(here.app);
  const away = opened(t, { ARCHIVE_URL: archiveIn(tempFolder(t)) });
  await runArchiver(away.app);
  away.clock.now += 3 * DAY;
  await runArchiver(away.app);
  assert.equal(away.app.store.records.observationTotals().count, 5, 'only the newest of each is here');
  await runDumps(away.app);
  const hashes = (app: AppContext) => dumpIndex(app).days.map(({ day, files }) => [day, files.map((f) => f.sha256)]);
  assert.deepEqual(
    hashes(away.app).filter(([day]) => DAYS.includes(String(day))),
    hashes(here.app),
  );
  // A name that opts out now is taken out of what only the archive has.
  away.app.store.records.optOut(parseHostname('a.example'), 'asked', 'cli', away.clock.now);
  await runDumps(away.app);
  assert.deepEqual((await namesByDay(away.app, away.dumps))['2026-10-29'], ['c.test']);
  assert.ok(!/example/.test(await textIn(away.dumps)));
});

test('what comes late for a day replaces its dump, and no other', async (t) => {
  const { app, clock, dumps } = opened(t);
  await runDumps(app);
  look(app, clock, 'slow.test', Date.parse('2026-10-30T23:59:59Z'));
  await runDumps(app);
  const days = dumpIndex(app).days.map(({ day, generation, rows, why }) => [day, generation, rows, why]);
  assert.deepEqual(days, [
    ['2026-10-31', 1, 3, 'new'],
    ['2026-10-30', 2, 4, 'late'],
    ['2026-10-29', 1, 3, 'new'],
  ]);
  await requireSound(app, dumps);
});

test('a late observation counts although it leaves for the archive before the dumps are made', {
  skip: ONLY_WIDE,
}, async (t) => {
  const { app, clock, dumps } = opened(t, { ARCHIVE_URL: archiveIn(tempFolder(t)) });
  await runDumps(app);
  look(app, clock, 'slow.test', Date.parse('2026-10-30T23:59:59Z'));
  look(app, clock, 'slow.test', Date.parse('2026-10-31T23:59:59Z'));
  await runArchiver(app);
  await runDumps(app);
  const names = await namesByDay(app, dumps);
  assert.deepEqual([names['2026-10-30']?.length, names['2026-10-31']?.length], [4, 4]);
});

test('a day without observations has an empty dump, once something is observed after it', async (t) => {
  const { app, clock, dumps } = opened(t);
  clock.now = NOON + 6 * DAY;
  await runDumps(app);
  assert.equal(dumpIndex(app).days[0]?.day, '2026-11-01', 'nothing is said of days after the newest observation');
  look(app, clock, 'a.example', NOON + 6 * DAY);
  clock.now = NOON + 7 * DAY;
  await runDumps(app);
  const rows = dumpIndex(app).days.map(({ day, rows }) => [day.slice(5), rows]);
  assert.deepEqual(rows.slice(0, 4), [
    ['11-04', 1],
    ['11-03', 0],
    ['11-02', 0],
    ['11-01', 3],
  ]);
  await requireSound(app, dumps);
});

test('a clock that is set back makes no day twice, and one that ran ahead is corrected', {
  skip: ONLY_WIDE,
}, async (t) => {
  const { app, clock, dumps } = opened(t);
  await runDumps(app);
  const before = dumpIndex(app);
  clock.now -= 2 * DAY;
  await runDumps(app);
  assert.deepEqual(dumpIndex(app), before);
  clock.now = NOON + 3 * DAY + HOUR;
  look(app, clock, 'a.example', NOON + 40 * DAY);
  clock.now += DAY;
  await runDumps(app);
  assert.deepEqual(dumpIndex(app).days[0]?.day, '2026-12-08');
  clock.now = NOON + 4 * DAY + HOUR;
  correctClock(app, [], clock.now);
  await runDumps(app);
  assert.equal(dumpIndex(app).days[0]?.day, '2026-11-01', 'days that are not over have no dump');
  clock.now += DAY;
  await runDumps(app);
  const [newest] = dumpIndex(app).days;
  assert.deepEqual([newest?.day, newest?.rows], ['2026-11-02', 1]);
  assert.deepEqual(newest?.generation, 2, 'the number of the one that was withdrawn is not given again');
  await requireSound(app, dumps);
});

test('days older than DUMPS_DAYS go, and come back with a longer one', async (t) => {
  const { app, clock, dumps, folder } = opened(t);
  await runDumps(app);
  app.close();
  const shorter = appContextIn(t, folder, clock, { DUMPS_URL: dumps, DUMPS_DAYS: '2' });
  await runDumps(shorter);
  assert.deepEqual(Object.keys(await namesByDay(shorter, dumps)), ['2026-10-30', '2026-10-31']);
  await requireSound(shorter, dumps);
  shorter.close();
  const longer = appContextIn(t, folder, clock, { DUMPS_URL: dumps });
  await runDumps(longer);
  assert.deepEqual(Object.keys(await namesByDay(longer, dumps)), DAYS);
  await requireSound(longer, dumps);
});

test('files that are lost, altered in size or foreign', async (t) => {
  const { app, dumps } = opened(t);
  await runDumps(app);
  const [entry] = dumpIndex(app).days;
  rmSync(join(dumps, entry?.files[0]?.name ?? ''));
  writeFileSync(join(dumps, '2026-10-29.1.ndjson.gz'), '');
  writeFileSync(join(dumps, '2026-10-29.7.parquet'), 'left behind');
  writeFileSync(join(dumps, 'README.txt'), 'the operator’s own');
  await runDumps(app);
  rmSync(join(dumps, 'README.txt'));
  assert.ok(!readdirSync(dumps).includes('2026-10-29.7.parquet'));
  await requireSound(app, dumps);
  assert.equal(dumpIndex(app).days[0]?.generation, 1, 'the same bytes are the same dump');
});

/** A place whose user is killed at its operation number `at`, from 1, before or after it took effect. */
function killedAt(place: DumpPlace, at: number, isAfter: boolean): DumpPlace {
  let done = 0;
  const guarded =
    <A extends unknown[], T>(work: (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> => {
      done++;
      if (done > at || (done === at && !isAfter)) throw new Killed();
      const result = await work(...args);
      if (done === at) throw new Killed();
      return result;
    };
  return {
    ...place,
    put: guarded(place.put),
    list: guarded(place.list),
    get: guarded(place.get),
    remove: guarded(place.remove),
  };
}

for (const isAfter of [false, true]) {
  test(`a kill ${isAfter ? 'after' : 'before'} each operation is finished by the next run`, async (t) => {
    const { app, clock, dumps } = opened(t);
    const place = openDumpPlace(app.settings);
    assert.ok(place);
    let kills = 0;
    for (let at = 1, isDone = false; !isDone; at++) {
      if (at === 4) app.store.records.optOut(parseHostname('c.test'), 'asked', 'cli', clock.now);
      Object.defineProperty(app, 'dumps', { value: killedAt(place, at, isAfter) });
      try {
        isDone = await runDumps(app);
      } catch (error) {
        if (!(error instanceof Killed)) throw error;
        kills++;
      }
      // Whatever is listed holds.
      for (const { day } of dumpIndex(app).days)
        if (at > 4) assert.ok(!(await namesByDay(app, dumps))[day]?.includes('c.test'));
    }
    assert.ok(kills >= 8, `${kills} kills`);
    await requireSound(app, dumps);
  });
}

test('of two processes one makes the dumps', { skip: ONLY_WIDE }, async (t) => {
  const { app, clock, folder, dumps } = opened(t);
  const other = appContextIn(t, folder, clock, { DUMPS_URL: dumps });
  const outcomes = await Promise.all([runDumps(app), runDumps(other)]);
  assert.deepEqual(outcomes.toSorted(), [false, true]);
  await requireSound(app, dumps);
});

test('a name that opts out while its day is written is not in what counts', async (t) => {
  const { app, clock, dumps } = opened(t);
  const place = openDumpPlace(app.settings);
  assert.ok(place);
  let puts = 0;
  Object.defineProperty(app, 'dumps', {
    value: {
      ...place,
      put: async (...args: Parameters<DumpPlace['put']>) => {
        await place.put(...args);
        if (++puts === 3) app.store.records.optOut(parseHostname('c.test'), 'asked', 'cli', clock.now);
      },
    } satisfies DumpPlace,
  });
  await runDumps(app);
  assert.ok(!/c\.test|test\.c/.test(await textIn(dumps)));
  await requireSound(app, dumps);
});

test('a bucket that fails is tried again, and never has a list that names what is not there', {
  skip: ONLY_WIDE,
}, async (t) => {
  const store = await S3Server.start(t);
  const env = { ...storeEnv(store.endpoint), PUBLISH_URL: '' };
  const url = `s3://${BUCKET}/dumps?endpoint=${store.endpoint}`;
  const { app } = opened(t, { ...env, DUMPS_URL: url, DUMPS_PUBLIC_URL: 'https://cdn.example/dumps/' });
  let n = 0;
  store.intercept = (request, response) => {
    if (request.method === 'GET' || ++n % 11 !== 0) return false;
    response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>');
    return true;
  };
  for (let tries = 0; ; tries++) {
    assert.ok(tries < 30);
    try {
      await runDumps(app);
      break;
    } catch {
      const list = store.objects.get('dumps/index.json');
      const days: { files: { name: string }[] }[] = list === undefined ? [] : JSON.parse(list.bytes.toString()).days;
      for (const { files } of days) for (const { name } of files) assert.ok(store.objects.has(`dumps/${name}`), name);
    }
  }
  assert.equal(store.uploads.size, 0);
  const { days } = dumpIndex(app);
  assert.equal(days.length, 3);
  for (const { files } of days) {
    for (const { name, url, sha256, bytes } of files) {
      const object = store.objects.get(`dumps/${name}`);
      assert.equal(object?.bytes.length, bytes);
      assert.equal(createHash('sha256').update(object.bytes).digest('hex'), sha256);
      assert.equal(url, `https://cdn.example/dumps/${name}`);
    }
  }
});

test('the dumps of another service are left alone', async (t) => {
  const { app, dumps } = opened(t);
  await runDumps(app);
  const clock = { now: NOON };
  const other = appContextIn(t, tempFolder(t), clock, { DUMPS_URL: dumps });
  observeDays(other, clock, 4, ['other.test']);
  await assert.rejects(runDumps(other), /has the dumps of a service that signs with .*; give each service and node/);
  await requireSound(app, dumps);
  // Others may write to a folder.
  for (const text of ['{', '{"days":[{},null,1]}', '[]', '\0']) {
    writeFileSync(join(dumps, 'index.json'), text);
    await runDumps(app);
    await requireSound(app, dumps);
  }
});

test('where no dumps may be', (t) => {
  const folder = tempFolder(t);
  mkdirSync(join(folder, 'archive'));
  const place = (env: Record<string, string>) => {
    const app = appContextIn(t, folder, { now: NOON }, env);
    return app.dumps;
  };
  assert.throws(
    () => place({ DUMPS_URL: join(folder, 'var/dumps') }),
    /DUMPS_URL=.*must not hold or be within DATA_DIR/,
  );
  const archive = join(folder, 'archive');
  for (const url of [archive, join(archive, 'dumps'), folder])
    assert.throws(() => place({ DUMPS_URL: url, ARCHIVE_URL: archive }), /DUMPS_URL=.*must not hold or be within/);
  assert.throws(() => place({ DUMPS_URL: 's3://bucket/dumps' }), /DUMPS_PUBLIC_URL=: must be set/);
  assert.throws(
    () => place({ DUMPS_URL: join(folder, 'd'), DUMPS_DAYS: '0' }),
    /DUMPS_DAYS=0: must be from 1 to 36500/,
  );
});
