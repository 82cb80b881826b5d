import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import Database from 'libsql';
import { acceptDamage, auditRecords } from '../../src/operate/audit/records.ts';
import type { Probe } from '../../src/proof/records/signal.ts';
import { readsOf } from '../../src/records/archive/reads.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { recordProbe } from '../../src/records/recording.ts';
import { historyOf } from '../../src/records/value-history.ts';
import { type AppContext, deskOf } from '../../src/server/context.ts';
import type { Fault } from '../../src/shared/fault.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';
import { certificate, HOUR, probe, toolsAt } from '../support/probes.ts';

const START = Date.UTC(2026, 10, 20, 12);
const WHY = 'scanner key 3 sent U+0000 before the upgrade';

/** A database in which an older version recorded these probes: it stored U+0000, and read values up to it. */
function recordedByOldVersion(t: TestContext, probes: Probe[]): { folder: string; open(): AppContext } {
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, { now: START });
  const { records } = app.store;
  app.signer.open();
  const { signer, kid } = deskOf(app).signingKey;
  records.watch([...new Set(probes.map(({ hostname }) => hostname))].map(parseHostname), START);
  const late: ((db: Database.Database) => void)[] = [];
  // The older version's own statements, run once the database is free.
  const old: typeof records = {
    ...records,
    addSightings: (host, tracked, at) =>
      void late.push((db) =>
        db
          .prepare(
            `INSERT INTO sightings
             SELECT ?1, json_extract(value, '$[0]'), json_extract(value, '$[1]'), ?2, ?2, 1 FROM json_each(?3) WHERE true
             ON CONFLICT DO UPDATE SET last_seen = excluded.last_seen, count = count + 1`,
          )
          .run([
            host,
            at,
            JSON.stringify(Object.entries(tracked).flatMap(([name, values]) => (values ?? []).map((v) => [name, v]))),
          ]),
      ),
    setFacets: (host, facets) =>
      void late.push((db) => {
        db.prepare('DELETE FROM facets WHERE host = ?').run([host]);
        for (const { kind, name } of facets) db.prepare('INSERT INTO facets VALUES (?, ?, ?)').run([host, kind, name]);
        // As the migration makes them from such a database.
        db.exec(
          "DELETE FROM facet_days; INSERT INTO facet_days SELECT kind, name, '2026-11-20', count FROM facet_counts WHERE kind <> 'expiry'",
        );
      }),
  };
  for (const [n, taken] of probes.entries()) {
    records.leaseNames({ id: `l${n}`, owner: 'test', names: [taken.hostname], until: taken.at + HOUR });
    assert.equal(recordProbe(old, `l${n}`, taken, toolsAt(taken.at, { signer, kid })).outcome, 'recorded');
  }
  app.close();
  const db = new Database(join(folder, 'var/broadsheet.db'));
  for (const run of late) run(db);
  db.close();
  return { folder, open: () => appContextIn(t, folder, { now: START + 99 * HOUR }) };
}

function faultsOf(app: AppContext): string[] {
  const faults: string[] = [];
  while (app.store.records.indexValues());
  auditRecords(app, faults);
  return faults;
}

const zeros = (host: string, hours: number) =>
  probe(
    host,
    START + hours * HOUR,
    { TXT: ['a\u0000b', 'a\u0000c', 'a', `${'x'.repeat(80)}\u0000b`, `${'x'.repeat(80)}\u0000c`] },
    certificate('a', 'CN=R11, O=Ev\u0000il, C=US'),
  );
const sound = (host: string, hours: number) => probe(host, START + hours * HOUR, { TXT: ['a'] }, certificate('b'));

test('a value that an older version cut at U+0000 is a fault until it is marked', async (t) => {
  const { folder, open } = recordedByOldVersion(t, [
    sound('a.test', 0),
    zeros('a.test', 1),
    zeros('a.test', 2),
    sound('b.test', 2),
  ]);
  const app = open();
  const before = faultsOf(app);
  assert.deepEqual(before.slice(0, 2), [
    'a.test: the history is not what was observed',
    'a.test: the facets are not those of the baseline',
  ]);
  assert.match(String(before[2]), /audit --accept-damage 2 3 --reason/);
  assert.equal(before.length, 3);

  const refused = (seqs: number[], reason: string, said: RegExp) =>
    assert.throws(
      () => acceptDamage(app, seqs, reason),
      (error: Fault) => said.test(error.message),
    );
  refused([2], WHY, /accept them together: 2 3/);
  refused([1], WHY, /observation 1 holds no U\+0000/);
  refused([2, 3, 4], WHY, /observation 4 holds no U\+0000/);
  refused([2, 3, 99], WHY, /there is no observation 99/);
  refused([2, 3], ' ', /--reason/);
  assert.equal(faultsOf(app).length, 3, 'a refused mark marks nothing');

  acceptDamage(app, [3, 2], WHY);
  acceptDamage(app, [2, 3], 'again changes nothing');
  assert.deepEqual(faultsOf(app), []);
  // Readers see what was observed, in pages and by signal.
  const host = app.store.records.find('a.test');
  assert(host !== null);
  const history = await historyOf(app.store, host.id, () => readsOf(app).all(host));
  const texts = history.page({ signal: 'TXT' }, 9).map(({ value, count }) => [value.replace(/x+/, 'x'), count]);
  assert.deepEqual(texts, [
    ['a', 3],
    ['a\u0000b', 2],
    ['a\u0000c', 2],
    ['x\u0000b', 2],
    ['x\u0000c', 2],
  ]);
  assert.equal(history.count({ signal: 'TXT', until: START + HOUR }), 1);
  const [first, second] = history.page({}, 9);
  assert.deepEqual(history.page({}, 1, first), [second]);
  const at = START + 99 * HOUR;
  assert.deepEqual(app.store.records.damagedObservations(), [
    { seq: 2, at, reason: WHY },
    { seq: 3, at, reason: WHY },
  ]);

  const db = new Database(join(folder, 'var/broadsheet.db'));
  t.after(() => db.close());
  for (const change of [
    'DELETE FROM damaged_observations',
    'UPDATE damaged_observations SET seq = 1',
    "INSERT OR REPLACE INTO damaged_observations VALUES (2, 0, '')",
  ]) {
    assert.throws(() => db.exec(change), /append-only/, change);
  }
  // Damage of another kind is still found.
  db.exec('UPDATE sightings SET count = count + 1 WHERE host = 1');
  assert.deepEqual(faultsOf(app), ['a.test: the history is not what was observed']);
});

test('other damage cannot be accepted', (t) => {
  const { folder, open } = recordedByOldVersion(t, [zeros('a.test', 0)]);
  const db = new Database(join(folder, 'var/broadsheet.db'));
  db.exec('UPDATE sightings SET count = count + 1');
  db.close();
  const app = open();
  assert.throws(() => acceptDamage(app, [1], WHY), /not what a cut at U\+0000 leaves: a\.test: the history/);
  assert.deepEqual(app.store.records.damagedObservations(), []);
});
