import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { DAY, HOUR } from '../../../src/proof/time.ts';
import { putExpectations } from '../../../src/records/declared-expectations.ts';
import { parseHostname } from '../../../src/records/hostname.ts';
import { runArchiver } from '../../../src/records/jobs/archive-run.ts';
import { runDumps } from '../../../src/records/jobs/dump-run.ts';
import { eraseName, forgetEarlier } from '../../../src/records/jobs/erasure.ts';
import { appContextIn, tempFolder } from '../../support/app-context.ts';
import { NOON } from '../../support/archive.ts';
import { parquetRows } from '../../support/dumps.ts';
import { certificate, probe } from '../../support/probes.ts';
import { recordProbes } from '../../support/records-fixture.ts';

const ERASED = 'gone.example';
const NAMES = [ERASED, `www.${ERASED}`, 'stays.example'];
const DAYS = 5;
/** What only the erased names answered. */
const words = (name: string, day: number) => [
  `ns${day}.of-${name}`,
  `"token of ${name} ${day}"`,
  `10 mx${day}.of-${name}`,
];

/** All files below a folder, with what they have decompressed. */
async function textsIn(folder: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const file = join(folder, name);
    if (!statSync(file).isFile()) continue;
    const bytes = readFileSync(file);
    let text = `${name}\n${bytes.toString('latin1')}`;
    if (name.endsWith('.gz')) text += gunzipSync(bytes).toString('utf8');
    if (name.endsWith('.parquet')) {
      const rows = await parquetRows(bytes);
      text += JSON.stringify(rows, (_, value) =>
        typeof value === 'bigint'
          ? `${value}`
          : value instanceof Uint8Array
            ? Buffer.from(value).toString('latin1')
            : value,
      );
    }
    found.set(name, text);
  }
  return found;
}

/** The long values of all rows of a database, each with its table. */
function valuesIn(file: string, folder: string): Map<string, string> {
  const copy = join(folder, 'copy.db');
  for (const end of ['', '-wal']) copyFileSync(file + end, copy + end);
  const database = new DatabaseSync(copy);
  const found = new Map<string, string>();
  const tables = database
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'")
    .all();
  for (const { name } of tables) {
    for (const row of database.prepare(`SELECT * FROM "${name}"`).all()) {
      for (const value of Object.values(row)) {
        if (typeof value !== 'string' && !(value instanceof Uint8Array)) continue;
        const bytes = Buffer.from(value as string);
        // Longer ones go on in other pages.
        if (bytes.length >= 20) found.set(bytes.subarray(0, 100).toString('latin1'), String(name));
      }
    }
  }
  database.close();
  return found;
}

test('no file has a byte of what an erased name answered, decompressed, nor the free pages of the database', async (t) => {
  const folder = tempFolder(t);
  const clock = { now: NOON };
  const places = { ARCHIVE_URL: join(folder, 'archive'), DUMPS_URL: join(folder, 'dumps') };
  mkdirSync(places.ARCHIVE_URL);
  const app = appContextIn(t, folder, clock, places);
  const { store } = app;
  app.signer.open();
  const account = store.records.accounts.ofEmail('ada@example.org', { id: '', plan: 'daily', made_at: 0 }).id;
  const observe = (day: number) => {
    clock.now = NOON + day * DAY;
    const looks = NAMES.map((name, n) => {
      const [ns = '', txt = '', mx = ''] = words(name, day);
      const answers = {
        A: [`192.0.2.${day + 1}`],
        NS: [ns],
        TXT: [txt],
        MX: [mx],
        SOA: [`${ns} host.${name} ${day} 1 1 1 1`],
      };
      return probe(name, clock.now + n, answers, certificate(`cert of ${name} ${day}`));
    });
    store.database.transact(() => recordProbes(app, clock, looks));
  };
  observe(0);
  putExpectations(app, account, { [ERASED]: { NS: { values: ['ns9.of-gone.example'] } } });
  for (let day = 1; day < DAYS; day++) observe(day);
  clock.now = NOON + (DAYS - 1) * DAY + HOUR;
  await runArchiver(app);
  await runDumps(app);

  const file = join(folder, 'var/broadsheet.db');
  const outside = tempFolder(t);
  const before = valuesIn(file, outside);
  const there = await textsIn(folder);
  const kinds = ['observations/', 'observations_open/', 'deltas/', 'sightings/', 'sightings_by_value/', 'dumps'];
  for (const kind of kinds)
    assert.ok(
      [...there].some(([name, text]) => name.includes(kind) && text.includes('of-gone.example')),
      `${kind} has it`,
    );

  eraseName(app, parseHostname(ERASED), 'asked');
  await runArchiver(app);
  await runDumps(app);
  assert.ok(await forgetEarlier(app));

  const after = valuesIn(file, outside);
  const texts = await textsIn(folder);
  for (const [name, text] of texts) {
    for (const name2 of NAMES.slice(0, 2))
      for (let day = 0; day < DAYS; day++)
        for (const word of [...words(name2, day), `cert of ${name2} ${day}`])
          assert.ok(!text.includes(word), `${name} has ${word}`);
    if (!basename(name).startsWith('broadsheet.db')) assert.ok(!text.includes(ERASED), `${name} has the name`);
  }
  // What is in no row any more is in no free page either.
  const database = texts.get('var/broadsheet.db') ?? '';
  const left = [...before].filter(([value]) => !after.has(value) && database.includes(value));
  assert.deepEqual(
    left.map(([value, table]) => `${table}: ${value.slice(0, 60)}`),
    [],
  );
  assert.ok([...before.keys()].filter((value) => !after.has(value)).length > 50);
});
