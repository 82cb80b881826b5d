import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { auditApp } from '../../../src/operate/audit/audit.ts';
import { DAY, HOUR } from '../../../src/proof/time.ts';
import { readRows } from '../../../src/records/archive/parquet-read.ts';
import { sourceOf } from '../../../src/records/archive/sources.ts';
import { OBSERVATIONS } from '../../../src/records/archive/tables.ts';
import { parseHostname } from '../../../src/records/hostname.ts';
import { lookAtArchive } from '../../../src/records/jobs/archive-look.ts';
import { runArchiver } from '../../../src/records/jobs/archive-run.ts';
import { Archiver } from '../../../src/records/jobs/archiver.ts';
import { eraseName, forgetEarlier } from '../../../src/records/jobs/erasure.ts';
import { localQueue } from '../../../src/records/jobs/local-queue.ts';
import type { AppContext } from '../../../src/server/context.ts';
import type { ArchivePlace } from '../../../src/shared/storage/archive-place.ts';
import { MACHINE, PROCESS } from '../../../src/shared/workers/process-name.ts';
import { appContextIn, type Clock, fileScope, type Scope, tempFolder } from '../../support/app-context.ts';
import { archiveAll, folderPlace, Killed, killedAt, NAMES, NOON, observeDays } from '../../support/archive.ts';
import { probe } from '../../support/probes.ts';
import { ONLY_WIDE } from '../../support/wide.ts';

const DAYS = 4;
/** Days that are archived; the others are in the database alone when the name is erased. */
const CLOSED = 3;
let model = '';

const scope = fileScope();
before(async () => {
  model = tempFolder(scope);
  const clock = { now: NOON };
  const app = appContextIn(scope, model, clock);
  observeDays(app, clock, DAYS);
  clock.now = NOON + CLOSED * DAY;
  await archiveAll(app, folderPlace(join(model, 'archive')));
  app.close();
});

function opened(t: Scope): { app: AppContext; clock: Clock; place: ArchivePlace; folder: string } {
  const folder = tempFolder(t);
  for (const part of ['var', 'archive']) cpSync(join(model, part), join(folder, part), { recursive: true });
  const clock = { now: NOON + CLOSED * DAY + HOUR };
  const app = appContextIn(t, folder, clock, { ARCHIVE_URL: join(folder, 'archive') });
  return { app, clock, folder, place: folderPlace(join(folder, 'archive')) };
}

/** All texts and bytes of all objects, as any reader of Parquet decompresses them. */
async function everythingIn(app: AppContext, place: ArchivePlace): Promise<string> {
  const parts: string[] = [];
  const named = new Map(app.store.records.archive.objects().map((object) => [object.key, object]));
  for await (const { key } of place.list('')) {
    const bytes = (await place.get(key))?.bytes ?? new Uint8Array();
    parts.push(Buffer.from(bytes).toString('latin1'));
    const object = named.get(key);
    if (object === undefined || !key.endsWith('.parquet')) continue;
    for await (const row of readRows(OBSERVATIONS, sourceOf(place, object))) {
      parts.push(
        Object.values(row)
          .map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value)))
          .join('\n'),
      );
    }
  }
  return parts.join('\n');
}

const ERASED = 'a.example';

async function requireErased(app: AppContext, place: ArchivePlace): Promise<void> {
  const { records } = app.store;
  assert.deepEqual(records.archive.erasures(), []);
  const objects = new Set(records.archive.objects().map(({ key }) => key));
  for (const root of ['observations', 'deltas', 'sightings'])
    for await (const { key } of place.list(root)) assert.ok(objects.has(key), `${key} is read by engines`);
  const everything = await everythingIn(app, place);
  for (const word of [ERASED, 'example.a', `ns.${ERASED}`]) assert.ok(!everything.includes(word), word);
  assert.ok(everything.includes('c.test'), 'others are there');
  assert.equal(records.archive.erasedCount(), 2 * DAYS, 'the name and one below it');
  assert.equal(records.nextSeq(), DAYS * NAMES.length + 1);
  assert.deepEqual((await auditApp(app, { archive: true, trees: false })).faults, []);
  assert.deepEqual((await auditApp(app, { trees: false })).faults, []);
}

/** The bytes of the database's file and of its log, while the app is open. Names stay in the list of opt-outs. */
function requireForgotten(folder: string): void {
  const file = join(folder, 'var/broadsheet.db');
  assert.equal(readFileSync(`${file}-wal`).length, 0, 'what was erased is not in the log');
  const bytes = readFileSync(file, 'latin1');
  assert.ok(bytes.includes('ns.c.test'), 'others are there');
  for (const word of [`ns.${ERASED}`, `ns.www.${ERASED}`]) assert.ok(!bytes.includes(word), word);
}

test('what is erased is in no object, and all other receipts, numbers and leaves hold', async (t) => {
  const { app, clock, folder, place } = opened(t);
  assert.ok((await everythingIn(app, place)).includes('example.a'), 'the search finds what is there');
  assert.deepEqual(eraseName(app, parseHostname(ERASED), 'asked'), [ERASED, 'www.a.example']);
  await archiveAll(app, place);
  await requireErased(app, place);
  clock.now += 2 * DAY;
  observeDays(app, clock, 1, ['c.test']);
  clock.now += DAY;
  await archiveAll(app, place);
  assert.deepEqual((await auditApp(app, { archive: true, trees: false })).faults, []);
  assert.equal(
    app.store.records.archive.through(),
    app.store.records.nextSeq() - 1,
    'tombstones go to the archive too',
  );
  assert.ok(await forgetEarlier(app));
  requireForgotten(folder);
});

test('a probe that was under way, and whoever watches the name again, observe nothing of an erased name', async (t) => {
  const { app, clock, place } = opened(t);
  const { records } = app.store;
  app.signer.open();
  await lookAtArchive(app);
  const queue = localQueue(app, 'test');
  const lease = queue.leaseNames([ERASED])?.lease ?? '';
  const next = records.nextSeq();
  eraseName(app, parseHostname(ERASED), 'asked');
  const [outcome] = await queue.submit(lease, [probe(ERASED, clock.now, { A: ['192.0.2.9'] })]);
  assert.equal(outcome?.outcome, 'lost');
  records.watch([parseHostname(ERASED)], clock.now);
  assert.equal(queue.leaseNames([ERASED]), null);
  assert.equal(records.nextSeq(), next);
  await archiveAll(app, place);
  await requireErased(app, place);
});

for (const isAfter of [false, true]) {
  test(`an erasure that is killed ${isAfter ? 'after' : 'before'} any operation is completed`, {
    skip: isAfter && ONLY_WIDE,
  }, async (t) => {
    const { app, place } = opened(t);
    eraseName(app, parseHostname(ERASED), 'asked');
    for (let at = 1, generation = 0, isMore = true; isMore; at++) {
      try {
        isMore = await new Archiver(app, killedAt(place, at, isAfter), { assertHeld() {} }).step();
      } catch (error) {
        if (!(error instanceof Killed) && !/does not answer/.test(String(error))) throw error;
      }
      const now = app.store.records.archive.newest()?.generation ?? 0;
      if (now !== generation) at = 0;
      generation = now;
    }
    await archiveAll(app, place);
    await requireErased(app, place);
  });
}

test('a name that is erased while its day is on its way leaves each number once', async (t) => {
  const { app, clock, place } = opened(t);
  clock.now = NOON + DAYS * DAY;
  let isErased = false;
  const put: ArchivePlace['put'] = async (key, ...more) => {
    if (!isErased && key.includes('observations_open/')) {
      isErased = true;
      eraseName(app, parseHostname(ERASED), 'asked');
    }
    return place.put(key, ...more);
  };
  await archiveAll(app, { ...place, put });
  assert.ok(isErased);
  await requireErased(app, place);
});

test('what a killed archiver was working on goes with the next run', async (t) => {
  const { app, folder } = opened(t);
  const left = join(folder, 'var/archive.999999');
  mkdirSync(left);
  writeFileSync(join(left, '0.parquet'), ERASED);
  const audits = ['dead', 'alive'].map((name) => join(folder, `var/archive-audit.${name}`));
  for (const [n, audit] of audits.entries()) {
    mkdirSync(audit);
    writeFileSync(join(audit, 'owner'), n === 0 ? `${MACHINE}:999999:1` : `${PROCESS}:audit`);
  }
  assert.ok(await runArchiver(app));
  assert.deepEqual([left, ...audits].map(existsSync), [false, false, true]);
});

test('a backup of before the erasure forgets the name when it follows the archive', async (t) => {
  const { app, clock, folder, place } = opened(t);
  const copy = tempFolder(t);
  cpSync(join(folder, 'var'), join(copy, 'var'), { recursive: true });
  eraseName(app, parseHostname(ERASED), 'asked');
  await archiveAll(app, place);
  app.close();
  const restored = appContextIn(t, copy, clock, { ARCHIVE_URL: join(folder, 'archive') });
  const { records } = restored.store;
  assert.ok(records.history(records.find(ERASED)?.id ?? 0, {}, 10).length > 0);
  await archiveAll(restored, place);
  assert.deepEqual(records.history(records.find(ERASED)?.id ?? 0, {}, 10), []);
  assert.equal(records.find(ERASED)?.seq, null);
});

test('without an archive a name is erased from the database', async (t) => {
  const folder = tempFolder(t);
  const clock = { now: NOON };
  const app = appContextIn(t, folder, clock);
  observeDays(app, clock, 2);
  const { records } = app.store;
  const said = { account: 'one', hostname: ERASED, signal: 'SOA', observation: 1 } as const;
  const seen = [`ns.${ERASED} 0`];
  const rule = { values: ['x'] };
  records.accounts.ofEmail('ada@example.org', { id: said.account, plan: 'daily', made_at: 0 });
  records.expectations.put({ ...said, seen, rule, set_at: 1, state: 'unexpected', since: 1 });
  records.expectations.addEvent({ ...said, seen, kind: 'unexpected', at: 1, expected: rule, plan: null });
  const hook = {
    id: 'hook',
    account: said.account,
    watch_group: null,
    hostname: 'c.test',
    way: 'webhook',
    made_at: 1,
  } as const;
  records.changeAlerts.add({ ...hook, url: 'https://x.example/', secret: 's', format: 'standard', routing_key: null });
  const bodies = [
    `{"domain":"${ERASED}","after":["ns.${ERASED} 0"]}`,
    `c.test and ${ERASED}.`,
    `b${ERASED}`,
    `x.${ERASED}.test`,
  ];
  for (const [n, body] of bodies.entries()) {
    const delivery = { id: `d${n}`, alert: hook.id, type: 'domain.changed', body, host: 'x.example', by_hand: false };
    records.changeQueue.deliver({ ...delivery, made_at: 1, incident: null });
  }
  eraseName(app, parseHostname(ERASED), 'asked');
  assert.deepEqual(
    records.changeAlerts.deliveries(hook.id, 10).map(({ id }) => id),
    ['d3', 'd2'],
    'of other names',
  );
  assert.equal(records.archive.erasedCount(), 4);
  assert.equal(records.find(ERASED)?.seq, null);
  assert.deepEqual(records.deltas({ host: records.find(ERASED)?.id ?? 0, rotating: 'both' }, { limit: 10 }), []);
  observeDays(app, clock, 1, ['c.test']);
  assert.equal(records.nextSeq(), 8);
  const reader = spawn(process.execPath, ['-e', READER, join(folder, 'var/broadsheet.db')]);
  t.after(() => reader.kill('SIGKILL'));
  await once(reader.stdout, 'data');
  observeDays(app, clock, 1, ['c.test']);
  assert.equal(await forgetEarlier(app), false, 'a reader of an earlier state prevents it');
  reader.kill('SIGKILL');
  await once(reader, 'close');
  assert.equal(await forgetEarlier(app), true);
  requireForgotten(folder);
});

/** A process that keeps the state of the database which it saw first. */
const READER = `
  const db = new (require('node:sqlite').DatabaseSync)(process.argv[1]);
  db.exec('BEGIN');
  db.prepare('SELECT count(*) FROM observations').get();
  process.stdout.write('reads');
  setInterval(() => db, 1_000);
`;

test('a bucket of which every name is erased is empty in each of its months', { skip: ONLY_WIDE }, async (t) => {
  const { app, clock, place } = opened(t);
  clock.now = NOON + 35 * DAY;
  observeDays(app, clock, 1);
  clock.now = NOON + 70 * DAY;
  await archiveAll(app, place);
  eraseName(app, parseHostname('c.test'), 'asked');
  await archiveAll(app, place);
  const own = app.store.records.archive
    .objects()
    .filter(({ kind, bucket }) => kind === 'observations' && bucket === 'd');
  assert.deepEqual(new Set(own.map(({ rows }) => rows)), new Set([0]));
  assert.ok(own.length > 1);
  assert.ok(!(await everythingIn(app, place)).includes('c.test'));
  assert.deepEqual((await auditApp(app, { archive: true, trees: false })).faults, []);
});

test('an erasure that is killed before anything of it is certain did not happen', (t) => {
  const { app } = opened(t);
  const { records } = app.store;
  const killed = () => {
    throw new Killed();
  };
  const archive = { ...records.archive, addErasure: killed };
  const store = { ...app.store, records: { ...records, archive } };
  assert.throws(() => eraseName({ ...app, store } as AppContext, parseHostname(ERASED), 'asked'), Killed);
  assert.equal(records.optOutOf(ERASED), null, 'it has not opted out, and the operator erases it again');
});

test('the log of the database is emptied by whoever completes an erasure that was killed', async (t) => {
  const { app, clock, folder } = opened(t);
  const other = appContextIn(t, folder, clock, { ARCHIVE_URL: join(folder, 'archive') });
  eraseName(app, parseHostname(ERASED), 'asked');
  assert.ok(readFileSync(join(folder, 'var/broadsheet.db-wal')).length > 0);
  // Here the command is killed, and a server goes on.
  await runArchiver(other);
  assert.ok(!readFileSync(join(folder, 'var/broadsheet.db-wal'), 'latin1').includes(`ns.${ERASED}`));
  assert.ok(!readFileSync(join(folder, 'var/broadsheet.db'), 'latin1').includes(`ns.${ERASED}`));
});
