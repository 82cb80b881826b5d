import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { DAY } from '../../src/proof/time.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { eraseName } from '../../src/records/jobs/erasure.ts';
import type { AppContext } from '../../src/server/context.ts';
import { PROJECT } from '../../src/shared/project.ts';
import { appContextIn, fileScope, tempFolder } from '../support/app-context.ts';
import { archiveAll, folderPlace, NOON, observeDays } from '../support/archive.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { DEPLOY } from './fixture.ts';

const DAYS = 5;
const skip =
  ONLY_WIDE ||
  (spawnSync('python3', ['-c', 'import pyiceberg, pyarrow']).status !== 0 &&
    'python3 has no modules pyiceberg and pyarrow');

const scope = fileScope();
const folder = tempFolder(scope);
const [archive, warehouse] = [join(folder, 'the archive %41 é'), join(folder, 'ice berg %42 é')];
let app: AppContext;

before(async () => {
  if (skip !== false) return;
  const clock = { now: NOON };
  app = appContextIn(scope, folder, clock, { ARCHIVE_URL: archive });
  observeDays(app, clock, DAYS);
  clock.now = NOON + DAYS * DAY;
  await archiveAll(app, folderPlace(archive));
});

function python(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('python3', ['-B', ...args], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return stdout;
}
const publish = () => python(join(DEPLOY, 'engines/iceberg.py'), archive, warehouse);
const read = (mode: string) =>
  JSON.parse(python(join(PROJECT, 'test/deploy/iceberg.py'), mode, join(warehouse, 'catalog.db')));

test('Iceberg tables have each observation and change once, and after an erasure nothing of it', { skip }, async () => {
  publish();
  const sums = read('sums');
  const total = app.store.records.nextSeq() - 1;
  assert.deepEqual(sums.observations, [total, (total * (total + 1)) / 2]);
  const deltas = app.store.records.deltas({ rotating: 'both', until: NOON + DAYS * DAY }, { limit: 1_000 });
  assert.deepEqual(sums.deltas, [deltas.length, deltas.reduce((sum, { seq }) => sum + seq, 0)]);
  assert.deepEqual(sums.sightings, sums.sightings_by_value.with(0, sums.sightings[0]));
  const rows = read('rows');
  assert.ok(rows.sightings.length > 0);
  publish();
  assert.deepEqual(read('rows'), rows, 'a second run gives the same tables');
  assert.equal(readdirSync(warehouse).filter((name) => name.startsWith('run-')).length, 1);
  const words = /example\.a|a\.example/;
  const everything = () => JSON.stringify([read('rows'), read('metadata')]);
  assert.ok(words.test(JSON.stringify(read('metadata'))), 'bounds of columns have names');

  eraseName(app, parseHostname('a.example'), 'asked');
  await archiveAll(app, folderPlace(archive));
  publish();
  const left = everything();
  assert.ok(!words.test(left) && left.includes('c.test'));
  assert.equal(readdirSync(warehouse).filter((name) => name.startsWith('run-')).length, 1);
});
