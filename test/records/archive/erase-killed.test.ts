import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { auditApp } from '../../../src/operate/audit/audit.ts';
import { DAY, HOUR } from '../../../src/proof/time.ts';
import { dumpIndex } from '../../../src/records/dumps.ts';
import { runArchiver } from '../../../src/records/jobs/archive-run.ts';
import { runDumps } from '../../../src/records/jobs/dump-run.ts';
import { appContextIn, fileScope, tempFolder } from '../../support/app-context.ts';
import { NAMES, observeDays } from '../../support/archive.ts';
import { parquetRows } from '../../support/dumps.ts';
import { start } from '../../support/program.ts';
import { ONLY_WIDE } from '../../support/wide.ts';

const ERASED = 'a.example';
const DAYS = 3;
/** Each in its turn a part of the time that the whole command takes. */
const PARTS = [0.4, 0.6, 0.7, 0.85, 0.95];

const scope = fileScope();
const model = tempFolder(scope);
const START = Math.floor(Date.now() / DAY) * DAY - 40 * DAY + 12 * HOUR;
/** It goes on, so that the leases of killed processes end. */
const CLOCK = {
  get now() {
    return Date.now();
  },
};
const envOf = (folder: string) => ({ ARCHIVE_URL: join(folder, 'archive'), DUMPS_URL: join(folder, 'dumps') });

before(async () => {
  if (ONLY_WIDE !== false) return;
  mkdirSync(join(model, 'archive'));
  const clock = { now: START };
  const app = appContextIn(scope, model, clock, envOf(model));
  observeDays(app, clock, DAYS);
  clock.now = START + DAYS * DAY;
  await runArchiver(app);
  await runDumps(app);
  app.close();
});

async function textsIn(folder: string): Promise<[string, string][]> {
  const found: [string, string][] = [];
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!statSync(join(folder, name)).isFile()) continue;
    const bytes = readFileSync(join(folder, name));
    const rows = name.endsWith('.parquet')
      ? JSON.stringify(await parquetRows(bytes), (_, one) => (typeof one === 'bigint' ? `${one}` : one))
      : '';
    found.push([name, bytes.toString('latin1') + rows + (name.endsWith('.gz') ? gunzipSync(bytes).toString() : '')]);
  }
  return found;
}

test('an erasure killed at any time, beside an archiver and makers of dumps, is undone or completed', {
  skip: ONLY_WIDE,
}, async (t) => {
  const copied = () => {
    const folder = tempFolder(t);
    for (const part of ['var', 'archive', 'dumps']) cpSync(join(model, part), join(folder, part), { recursive: true });
    return folder;
  };
  const erase = (folder: string) => start(t, folder, ['erase', ERASED, '--reason', 'asked'], envOf(folder));
  const whole = copied();
  const began = performance.now();
  const { code, stderr } = await erase(whole).ended;
  const took = performance.now() - began;
  assert.equal(code, 0, stderr);
  const outcomes: string[] = [];
  for (const part of PARTS) {
    const folder = copied();
    const run = erase(folder);
    const beside = start(t, folder, [part > 0.6 ? 'dumps' : 'archive', 'run'], envOf(folder));
    await pause(took * part);
    run.child.kill('SIGKILL');
    if (part > 0.8) beside.child.kill('SIGKILL');
    await Promise.all([run.ended, beside.ended]);
    const app = appContextIn(t, folder, CLOCK, envOf(folder));
    const isBegun = app.store.records.optOutOf(ERASED) !== null;
    outcomes.push(isBegun ? 'completed' : 'undone');
    assert.ok(await runArchiver(app, 120_000), 'nobody else archives');
    assert.ok(await runDumps(app, 120_000), 'nobody else makes dumps');
    app.close();
    const texts = await textsIn(folder);
    const having = texts.filter(([, text]) => text.includes(`ns.${ERASED}`)).map(([name]) => name);
    const naming = texts.filter(
      ([name, text]) => !name.includes('broadsheet.db') && /a\.example|example\.a/.test(text),
    );
    const places = JSON.stringify([part, having, naming.map(([name]) => name)]);
    assert.equal(having.length + naming.length > 0, !isBegun, places);
    const again = appContextIn(t, folder, CLOCK, envOf(folder));
    assert.equal(dumpIndex(again).days.length >= DAYS - 1, true);
    assert.equal(again.store.records.nextSeq(), DAYS * NAMES.length + 1);
    assert.deepEqual((await auditApp(again, { archive: true, trees: false })).faults, []);
    again.close();
  }
  t.diagnostic(outcomes.join(' '));
});
