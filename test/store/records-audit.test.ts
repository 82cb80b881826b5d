import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'libsql';
import { auditRecords } from '../../src/operate/audit/records.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { recordProbe } from '../../src/records/recording.ts';
import { type AppContext, deskOf } from '../../src/server/context.ts';
import { appContextIn, fileScope, type Scope, tempFolder } from '../support/app-context.ts';
import { certificate, HOUR, probe, toolsAt } from '../support/probes.ts';

const START = Date.UTC(2026, 10, 20, 12);

/** A database with a short history of two hosts, one of which has opted out. */
function observed(t: Scope): { folder: string; open(): AppContext } {
  const folder = tempFolder(t);
  const open = () => appContextIn(t, folder, { now: START });
  const app = open();
  const { records } = app.store;
  app.signer.open();
  const { signer, kid } = deskOf(app).signingKey;
  const names = ['example.test', 'gone.test'];
  records.watch(names.map(parseHostname), START);
  for (const [hours, address] of ['192.0.2.1', '192.0.2.2', '192.0.2.3'].entries()) {
    const now = START + hours * HOUR;
    records.leaseNames({ id: `lease-${hours}`, owner: 'test', names, until: now + HOUR });
    for (const name of names) {
      const taken = probe(name, now, { A: [address], NS: ['amy.ns.cloudflare.com'] }, certificate('a'));
      assert.equal(recordProbe(records, `lease-${hours}`, taken, toolsAt(now, { signer, kid })).outcome, 'recorded');
    }
  }
  records.optOut(parseHostname('gone.test'), 'asked', 'cli', START + 9 * HOUR);
  return { folder, open };
}

function auditOf(app: AppContext): { faults: string[]; count: number } {
  const faults: string[] = [];
  return { count: auditRecords(app, faults), faults };
}

test('an audit of the records finds nothing where nothing was changed', (t) => {
  assert.deepEqual(auditOf(observed(t).open()), { count: 6, faults: [] });
});

const CHANGES: [claim: string, sql: string, said: RegExp][] = [
  [
    'a value in a stored record',
    `UPDATE record_bodies SET body = replace(body, '192.0.2.1', '192.0.2.9')`,
    /example\.test: seq 1: record_root is not the root of what is stored/,
  ],
  [
    'a circumstance of a look',
    `UPDATE observations SET circumstances = replace(circumstances, '[[', '[[7') WHERE seq = 1`,
    /example\.test: seq 1: record_root is not the root/,
  ],
  [
    'what many probes have in common',
    `UPDATE shared_circumstances SET circumstances = replace(circumstances, '"u', '"t')`,
    /example\.test: seq 1: record_root is not the root/,
  ],
  [
    'a value in a patch of a record',
    `UPDATE body_patches SET patch = replace(patch, '"3"', '"4"')`,
    /example\.test: seq 5: record_root is not the root/,
  ],
  [
    'where a patch begins',
    `UPDATE body_patches SET patch = '[[0,7,""]]'`,
    /example\.test: seq 3: its record cannot be read \(.*restore a backup/,
  ],
  [
    'a patch that is no JSON',
    `UPDATE body_patches SET patch = 'x'`,
    /example\.test: seq 3: its record cannot be read \(.*restore a backup/,
  ],
  [
    'a patch that no observation has',
    `INSERT INTO body_patches SELECT 99, base, 0, 0, patch FROM body_patches LIMIT 1`,
    /observations: a stored part belongs to none of them/,
  ],
  ['a seed', 'UPDATE observations SET seed = zeroblob(32) WHERE seq = 1', /example\.test: seq 1: record_root is not/],
  [
    'a word in a receipt',
    'UPDATE observations SET fields = fields + 1 WHERE seq = 3',
    /example\.test: seq 3: the signature does not hold/,
  ],
  [
    'a signature',
    'UPDATE observations SET signature = zeroblob(64) WHERE seq = 3',
    /seq 3: the signature does not hold/,
  ],
  ['the hash of a receipt', 'UPDATE observations SET hash = zeroblob(32) WHERE seq = 3', /seq 3: receipt_hash is not/],
  ['the name of a signer', "UPDATE receipt_signers SET name = 'other.test/door'", /seq 1: the signature does not hold/],
  [
    'the time of an observation',
    'UPDATE observations SET observed_at = observed_at + 1 WHERE seq = 5',
    /seq 5: the signature does not hold/,
  ],
  [
    'an observation taken out',
    'DELETE FROM deltas WHERE observation = 3; DELETE FROM observations WHERE seq = 3',
    /example\.test: seq 5: prev is sha256:\w+, but the observation before it is/,
  ],
  [
    'the first observation taken out',
    'DELETE FROM observations WHERE seq = 1',
    /example\.test: seq 3: prev is sha256:\w+, but nothing is before it/,
  ],
  ['an observation taken out of the middle', 'DELETE FROM observations WHERE seq = 2', /a number is missing/],
  [
    'what a delta says',
    `UPDATE deltas SET "after" = '["192.0.2.9"]' WHERE seq = 1`,
    /example\.test: seq 3: the deltas are not what changed/,
  ],
  ['a delta taken out', 'DELETE FROM deltas WHERE seq = 1', /deltas: a number is missing/],
  ['the time of a delta', 'UPDATE deltas SET at = at + 99999999 WHERE seq = 1', /deltas: time goes back/],
  ['what stands', `UPDATE standing SET "values" = '[]' WHERE signal = 'A'`, /the baseline is not what was observed/],
  ['a count of the history', 'UPDATE sightings SET count = count + 1', /the history is not what was observed/],
  ['a facet', "DELETE FROM facets WHERE kind = 'service'", /the facets are not those of the baseline/],
  ['a count of facets', 'UPDATE facet_counts SET count = count + 1', /facet_counts: not what the facets give/],
  ['a count of changes', 'UPDATE change_counts SET count = count + 1', /change_counts: not what/],
  ['a count of a hostname', 'UPDATE host_changes SET count = count + 1', /host_changes: not what the deltas give/],
  ['a count of a day', 'UPDATE facet_days SET count = count + 1', /facet_days: the last day is not what/],
  ['the count of hostnames', 'UPDATE hostname_counts SET count = 7', /hostname_counts: not what the hostnames give/],
  [
    'who has opted out',
    "UPDATE hostnames SET state = 'watched' WHERE hostname = 'gone.test'",
    /gone\.test: its state is watched, though an opt-out covers it/,
  ],
  ['the newest observation', 'UPDATE hostnames SET seq = 1', /seq 1 is shown as the newest observation, not 5/],
];

const scope = fileScope();
/** The data folder of `observed`, of which each change takes a copy. Its triggers are gone: to drop them takes longest. */
let unguarded: string | undefined;

function makeUnguarded(): string {
  const { folder, open } = observed(scope);
  open().close();
  const db = new Database(join(folder, 'var/broadsheet.db'));
  const triggers = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all() as { name: string }[];
  db.exec(`${triggers.map(({ name }) => `DROP TRIGGER ${name};`).join('')} PRAGMA wal_checkpoint(TRUNCATE)`);
  db.close();
  return join(folder, 'var');
}

for (const [claim, sql, said] of CHANGES) {
  test(`an audit finds changes made behind the program’s back: ${claim}`, (t) => {
    const folder = tempFolder(t);
    unguarded ??= makeUnguarded();
    cpSync(unguarded, join(folder, 'var'), { recursive: true });
    const db = new Database(join(folder, 'var/broadsheet.db'));
    db.exec(`PRAGMA foreign_keys = OFF; ${sql}`);
    db.close();
    const { faults } = auditOf(appContextIn(t, folder, { now: START }));
    assert.match(faults.join('\n'), said);
  });
}

test('observations cannot be changed or deleted', (t) => {
  const { folder } = observed(t);
  const db = new Database(join(folder, 'var/broadsheet.db'));
  t.after(() => db.close());
  db.exec('PRAGMA foreign_keys = OFF');
  const kept = ['record_bodies', 'body_patches', 'shared_circumstances', 'receipt_signers'];
  for (const table of [...kept, 'observations', 'deltas', 'opt_outs']) {
    assert.throws(() => db.exec(`DELETE FROM ${table}`), /append-only/, table);
    const column = (db.prepare(`SELECT name FROM pragma_table_info('${table}') LIMIT 1`).get() as { name: string })
      .name;
    assert.throws(() => db.exec(`UPDATE ${table} SET ${column} = ${column}`), /append-only/, table);
  }
  for (const table of ['observations', 'deltas']) {
    assert.throws(() => db.exec(`INSERT OR REPLACE INTO ${table} SELECT * FROM ${table}`), /append-only/, table);
  }
  assert.throws(() => db.exec('DELETE FROM hostnames'), /hostnames are kept/);
});
