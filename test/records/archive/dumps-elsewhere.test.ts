import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { jwks } from '../../../src/proof/keyring.ts';
import { DAY, HOUR } from '../../../src/proof/time.ts';
import { dumpIndex } from '../../../src/records/dumps.ts';
import { runDumps } from '../../../src/records/jobs/dump-run.ts';
import { logProver } from '../../../src/shared/transparency/log-tree.ts';
import { appContextIn, fileScope, tempFolder } from '../../support/app-context.ts';
import { NAMES, NOON, observeDays } from '../../support/archive.ts';
import { LogHeads } from '../../support/log-heads.ts';
import { without } from '../../support/log-peers.ts';

/** Other programs read the dumps as the manual says. */

interface DuckDb {
  DuckDBInstance: { create(): Promise<{ connect(): Promise<Connection> }> };
}
interface Connection {
  runAndReadAll(sql: string): Promise<{ getRowObjectsJson(): Record<string, unknown>[] }>;
  closeSync(): void;
}
const PACKAGE = '@duckdb/node-api';
const duckdb = (await import(PACKAGE).catch(() => null)) as DuckDb | null;
const has = (program: string) => spawnSync(program, ['--version']).status === 0;
const VERIFIER = fileURLToPath(new URL('../../protocol/verifier', import.meta.url));

const scope = fileScope();
const folder = tempFolder(scope);
const clock = { now: NOON };
const app = appContextIn(scope, folder, clock, { DUMPS_URL: join(folder, 'dumps') });
let [parquet, ndjson] = ['', ''];

before(async () => {
  observeDays(app, clock, 3);
  clock.now = NOON + 3 * DAY + HOUR;
  await runDumps(app);
  const [, day] = dumpIndex(app).days;
  [parquet = '', ndjson = ''] = day?.files.map(({ name }) => join(folder, 'dumps', name)) ?? [];
});

/** The rows of the NDJSON file by jq, each as one line. */
function jqRows(): string[] {
  const filter = '[.domain, .seq, .observed_at, .registrable_domain, .nameservers, .summary, .receipt, .disclosures]';
  const { status, stdout, stderr } = spawnSync('sh', ['-c', 'zcat "$1" | jq -c "$2"', '-', ndjson, filter], {
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  return stdout.trim().split('\n');
}

test('jq and zcat read the lines', { skip: !has('jq') && 'jq is not installed' }, () => {
  const rows = jqRows().map((line) => JSON.parse(line));
  assert.deepEqual(
    rows.map(([domain]) => domain),
    ['a.example', 'www.a.example', 'c.test'],
  );
  assert.equal(rows.length, NAMES.length);
});

test('DuckDB reads the same rows of the Parquet file', {
  skip: (duckdb === null && `${PACKAGE} is not installed`) || (!has('jq') && 'jq is not installed'),
}, async (t) => {
  const connection = await (duckdb as DuckDb).DuckDBInstance.create().then((instance) => instance.connect());
  t.after(() => connection.closeSync());
  const sql = `SELECT domain, seq, epoch_ms(observed_at) AS at, registrable_domain, nameservers, summary, receipt, disclosures FROM '${parquet}'`;
  const rows = (await connection.runAndReadAll(sql)).getRowObjectsJson();
  const lines = rows.map((row) =>
    JSON.stringify([
      ...[row.domain, Number(row.seq), new Date(Number(row.at)).toISOString(), row.registrable_domain],
      ...[row.nameservers, row.summary].map((text) => JSON.parse(String(text))),
      ...[row.receipt, JSON.parse(String(row.disclosures))],
    ]),
  );
  assert.deepEqual(lines, jqRows());
  const found = await connection.runAndReadAll(
    `SELECT summary->>'A' AS a FROM '${parquet}' WHERE path = 'example.a.www'`,
  );
  assert.deepEqual(found.getRowObjectsJson(), [{ a: '1' }]);
});

test('a verifier from the protocol alone finds the hash of a file in the log, and each line signed', {
  skip: !has('python3') && 'there is no python3 on this machine',
}, (t) => {
  const heads = new LogHeads(app.store.database.log, 'records');
  app.store.database.transact(() => heads.cosign(heads.sign()));
  const [, day] = dumpIndex(app).days;
  assert.ok(day);
  const log = logProver(app.store.database.log, 'records')(day.note);
  assert.ok(log);
  const work = tempFolder(t);
  writeFileSync(join(work, 'keys.json'), JSON.stringify(jwks(app.store.desk.verifyingKeys('records'))));
  writeFileSync(join(work, 'proof.json'), JSON.stringify({ day: day.day, note: day.note, log }));
  writeFileSync(join(work, 'policy'), heads.policyText);
  const verify = (...files: string[]) =>
    spawnSync('python3', ['-B', VERIFIER, 'dump', ...files.map((name) => join(work, name)), parquet, ndjson], {
      encoding: 'utf8',
    });
  const sound = verify('proof.json', 'keys.json', 'policy');
  assert.equal(sound.status, 0, sound.stdout + sound.stderr);
  assert.match(sound.stdout, /^3 previews, 0 faults$/m);
  const forged = day.note.replace(/^rows 3$/m, 'rows 4');
  writeFileSync(join(work, 'forged.json'), JSON.stringify({ day: day.day, note: forged, log }));
  assert.equal(verify('forged.json', 'keys.json', 'policy').status, 1);

  // The steps of the manual, as far as that is not the recipe of docs/verifying.md.
  const proof = join(work, 'proof.json');
  const steps = 'jq -j .note "$1" > leaf && grep -qx "parquet sha256:$(sha256sum < "$2" | cut -d " " -f 1)" leaf';
  if (has('jq')) assert.equal(spawnSync('sh', ['-c', steps, '-', proof, parquet], { cwd: work }).status, 0);
  const peer = 'tlog-verify';
  if (without(peer) === false) {
    writeFileSync(join(work, 'proof'), log.tlog_proof);
    const { status, stderr } = spawnSync(peer, ['proof', 'policy', 'proof', 'leaf'], { cwd: work });
    assert.equal(status, 0, String(stderr));
    assert.equal(readFileSync(join(work, 'leaf'), 'utf8'), day.note);
  }
});
