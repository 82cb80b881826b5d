import assert from 'node:assert/strict';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { gunzipSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { verifiedLines, verifyAt } from '../../src/operate/audit/verify.ts';
import type { CheckedDump } from '../../src/operate/audit/verify-dump.ts';
import { readPolicy } from '../../src/proof/log/node-crypto.ts';
import { present } from '../../src/proof/narrow.ts';
import { DAY } from '../../src/proof/time.ts';
import { DUMP, type DumpRow } from '../../src/records/archive/dump-row.ts';
import { writeParquet } from '../../src/records/archive/parquet-write.ts';
import { dumpIndex } from '../../src/records/dumps.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { runDumps } from '../../src/records/jobs/dump-run.ts';
import { fileScope, type Scope, tempFolder } from '../support/app-context.ts';
import { parquetRows } from '../support/dumps.ts';
import { ask } from '../support/http.ts';
import { LogHeads } from '../support/log-heads.ts';
import { probe } from '../support/probes.ts';
import { run } from '../support/program.ts';
import { type RecordsStand, recordsStand } from '../support/records-fixture.ts';

const NOON = Date.UTC(2026, 10, 20, 12);
const NAMES = Array.from({ length: 12 }, (_, n) => `n${n}.example`);
const PARQUET = '2026-11-20.1.parquet';
const NDJSON = '2026-11-20.1.ndjson.gz';

const scope = fileScope();
const folder = tempFolder(scope);
let stand: RecordsStand;
let policyText = '';

before(async () => {
  stand = await recordsStand(scope, { DUMPS_URL: join(folder, 'dumps') }, NOON);
  stand.enter(...NAMES.map((name) => probe(name, NOON, { A: ['192.0.2.1'], NS: ['ns1.example'] })));
  stand.clock.now = NOON + DAY;
  await runDumps(stand.app);
  const heads = new LogHeads(stand.app.store.database.log, 'records');
  stand.app.store.database.transact(() => heads.cosign(heads.sign()));
  policyText = heads.policyText;
  writeFileSync(join(folder, 'proof.json'), (await ask(stand.url, '/dumps/2026-11-20/proof.json')).text);
  writeFileSync(join(folder, 'keys.json'), (await ask(stand.url, '/.well-known/records-keys.json')).text);
});

/** A copy of the dump in a folder, as somebody has it who downloaded it. */
function downloaded(t: Scope): { at: (name: string) => string; check: (...files: string[]) => Promise<CheckedDump> } {
  const own = tempFolder(t);
  cpSync(join(folder, 'dumps'), own, { recursive: true });
  cpSync(join(folder, 'proof.json'), join(own, 'proof.json'));
  const keys = stand.app.store.desk.verifyingKeys('records');
  const at = (name: string) => join(own, name);
  return { at, check: async (...files) => only(await verifyAt(at('proof.json'), { keys }, files)) };
}

const only = (checked: Awaited<ReturnType<typeof verifyAt>>): CheckedDump => {
  const [one] = checked;
  assert.ok(one !== undefined && 'dump' in one);
  return one;
};

/** Replaces the byte at a place from the end, or the start. */
function flip(file: string, at: number): void {
  const bytes = readFileSync(file);
  const place = at < 0 ? bytes.length + at : at;
  bytes[place] = (bytes[place] ?? 0) ^ 1;
  writeFileSync(file, bytes);
}

test('the note, its leaf and both files hold, on disk and at the address', async (t) => {
  const { at } = downloaded(t);
  const policy = readPolicy(policyText);
  const here = only(await verifyAt(at('proof.json'), { keys: stand.app.store.desk.verifyingKeys('records'), policy }));
  assert.deepEqual([here.faults, here.files, here.missing], [[], [at(PARQUET), at(NDJSON)], []]);
  assert.deepEqual(here.unsigned, ['keys_url']);
  assert.equal(here.logged?.index, 13);
  const where = `${stand.url}/dumps/2026-11-20/proof.json`;
  const there = only(await verifyAt(where, { policy }));
  assert.deepEqual([there.faults, there.own_keys, there.files.length], [[], true, 2]);
  const lines = verifiedLines(where, [there], { policy });
  assert.match(
    lines.join('\n'),
    /dump 1 of 2026-11-20: the note holds, and 2026-11-20\.1\.parquet and 2026-11-20\.1\.ndjson\.gz, with each of 12 rows$/m,
  );
  assert.match(lines.join('\n'), /the note of 2026-11-20: leaf 13 of \S+, cosigned by /);
});

test('a flipped byte is found wherever it is, with its row where that can be read', async (t) => {
  const { at, check } = downloaded(t);
  const sound = readFileSync(at(PARQUET));
  for (const place of [0, 100, Math.floor(sound.length / 2), -300, -1]) {
    writeFileSync(at(PARQUET), sound);
    flip(at(PARQUET), place);
    const { faults } = await check();
    assert.match(
      faults[0] ?? '',
      /^2026-11-20\.1\.parquet: its hash is sha256:\w+, and that of the note is sha256:\w+$/,
      `${place}`,
    );
    assert.ok(faults.every((fault) => fault.startsWith(PARQUET) || fault === 'the files do not have the same rows'));
  }
  writeFileSync(at(PARQUET), sound);
  const gzipped = readFileSync(at(NDJSON));
  flip(at(NDJSON), Math.floor(gzipped.length / 2));
  assert.match((await check()).faults.join('\n'), /\.ndjson\.gz: (?:row \d+|what follows row \d+ cannot be read)/);
  const text = gunzipSync(gzipped).toString('utf8').replace('"domain":"n3.example"', '"domain":"n4.example"');
  writeFileSync(at(NDJSON), gzipSync(text));
  assert.match((await check()).faults.join('\n'), /\.ndjson\.gz: row 6 \(n4\.example\): /);
});

test('rows that nobody signed are named, in whichever file', async (t) => {
  const { at, check } = downloaded(t);
  const rows = (await parquetRows(readFileSync(at(PARQUET)))) as unknown as DumpRow[];
  const forged = rows.map((row, n) => ({
    ...row,
    ...{ seq: Number(row.seq), observed_at: Number(row.observed_at) },
    ...(n === 2
      ? { nameservers: '["ns1.evil.example"]' }
      : n === 3
        ? { summary: '{' }
        : n === 4
          ? { path: 'example.zzz' }
          : {}),
  }));
  rmSync(at(PARQUET));
  await writeParquet(DUMP, forged, at(PARQUET));
  const said = (await check()).faults.join('\n');
  assert.match(said, /row 3 \(n10\.example\): /);
  assert.match(said, /row 4: it is not a preview/);
  assert.match(said, /row 5 \(n2\.example\): its path is not that of its domain/);
  await writeFiles(
    at,
    gunzipSync(readFileSync(at(NDJSON)))
      .toString('utf8')
      .split('\n')
      .toReversed()
      .join('\n')
      .trimStart(),
  );
  const lines = (await check(at(NDJSON))).faults.join('\n');
  assert.match(lines, /it is out of order/);
  assert.match(lines, /the last row does not end with a newline/);
  await writeFiles(at, '{}\n'.repeat(50));
  const many = (await check(at(NDJSON))).faults;
  assert.match(many.join('\n'), /and 30 more faults/);
  assert.match(many.join('\n'), /it has 50 rows, and the note says 12/);
});

const writeFiles = async (at: (name: string) => string, text: string) => writeFileSync(at(NDJSON), gzipSync(text));

/** A Parquet file of one row, of which a page expands to `page` bytes, and whose footer names `rows` rows. */
function bomb({ rows = 1n, page = 0 }: { rows?: bigint; page?: number }): Buffer {
  const writer = new ByteWriter();
  let pages = 0;
  const parquet = new ParquetWriter({
    ...{ writer, schema: [{ name: 'root', num_children: DUMP.columns.length }], codec: 'ZSTD' },
    compressors: { ZSTD: (bytes) => zstdCompressSync(page > 0 && pages++ === 0 ? Buffer.alloc(page) : bytes) },
  });
  for (const { name, element } of DUMP.columns) parquet.schema.push({ ...element, name, repetition_type: 'REQUIRED' });
  const columnData = DUMP.columns.map(({ name, element }) => {
    return { name, data: [element.type === 'INT64' ? (name === 'seq' ? 1n : 1) : 'a'.repeat(200)] };
  });
  parquet.write({ columnData });
  Object.assign(parquet, { num_rows: rows });
  for (const group of parquet.row_groups) group.num_rows = rows;
  parquet.finish();
  return Buffer.from(writer.getBytes());
}

/** A Parquet file of so many rows in one group, each with a text of so many characters that its sizes do not say. */
function wideRows(rows: number, length: number): Buffer {
  const writer = new ByteWriter();
  const parquet = new ParquetWriter({
    ...{ writer, schema: [{ name: 'root', num_children: DUMP.columns.length }], codec: 'ZSTD' },
    compressors: { ZSTD: (bytes) => zstdCompressSync(bytes) },
  });
  for (const { name, element } of DUMP.columns) parquet.schema.push({ ...element, name, repetition_type: 'REQUIRED' });
  const text = 'a'.repeat(length);
  const columnData = DUMP.columns.map(({ name, element }) => {
    const value = element.type === 'INT64' ? (name === 'seq' ? 1n : 1) : name === 'disclosures' ? text : 'a';
    return { name, data: Array.from({ length: rows }, () => value), encoding: 'PLAIN' as const };
  });
  parquet.write({ columnData, pageSize: 1_000 });
  for (const { columns } of parquet.row_groups)
    for (const { meta_data } of columns) if (meta_data) meta_data.total_uncompressed_size = 1n;
  parquet.finish();
  return Buffer.from(writer.getBytes());
}

test('files that promise or become more than they can hold are refused without reading on', async (t) => {
  const { at, check } = downloaded(t);
  for (const rows of [2n ** 40n, 2n ** 62n, -1n]) {
    writeFileSync(at(PARQUET), bomb({ rows }));
    assert.match((await check(at(PARQUET))).faults.join('\n'), /parquet: it has -?\d+ rows or more, which cannot be/);
  }
  const before = process.resourceUsage().maxRSS;
  writeFileSync(at(PARQUET), bomb({ page: 400_000_000 }));
  assert.match((await check(at(PARQUET))).faults.join('\n'), /parquet: rows 1 to 1 cannot be read/);
  assert.ok(process.resourceUsage().maxRSS - before < 250_000, 'a page is not expanded beyond what its header says');
  writeFileSync(at(NDJSON), gzipSync(Buffer.alloc(5_000_000, 10)));
  // Two gigabytes in one line, of which a gzip file may have any number of members.
  const member = gzipSync(Buffer.alloc(20_000_000, 'a'));
  writeFileSync(at(NDJSON), Buffer.concat(Array.from({ length: 100 }, () => member)));
  const endless = (await check(at(NDJSON))).faults.join('\n');
  assert.match(endless, /ndjson\.gz: what follows row 0 cannot be read \(.* \(a line expands to more than \d+ MB\);/);
  // Many pages that are small enough, of rows that are read at once because the footer lies.
  writeFileSync(at(PARQUET), wideRows(15, 16_000_000));
  const wide = (await check(at(PARQUET))).faults.join('\n');
  assert.match(wide, /parquet: rows 1 to 15 cannot be read \(these rows expand to more than 200 MB\)/);
  writeFileSync(at(NDJSON), gzipSync(Buffer.alloc(5_000_000, 10)));
  const { faults } = await check(at(NDJSON));
  assert.match(faults.join('\n'), /ndjson\.gz: it has 10\d\d rows or more, which cannot be/);
});

test('files of another dump, missing and foreign ones are told apart', async (t) => {
  const { at, check } = downloaded(t);
  rmSync(at(PARQUET));
  const { faults, missing, files } = await check();
  assert.deepEqual([faults, missing, files], [[], [at(PARQUET)], [at(NDJSON)]]);
  await assert.rejects(check(at(PARQUET)), /2026-11-20\.1\.parquet does not exist; give a file of a dump$/);
  await assert.rejects(check(at('index.json')), /index\.json: name a \.parquet or a \.ndjson\.gz file of a dump$/);
  cpSync(at(NDJSON), at('2026-11-19.3.ndjson.gz'));
  flip(at('2026-11-19.3.ndjson.gz'), -1);
  assert.match(
    (await check(at('2026-11-19.3.ndjson.gz'))).faults[0] ?? '',
    /: it is of dump 3 of 2026-11-19, and the proof of dump 1 of 2026-11-20; get both again$/,
  );
  await assert.rejects(
    verifyAt(at('index.json'), {}, [at(NDJSON)]),
    /index\.json is not the proof of a dump; give its proof\.json before its files$/,
  );
  await assert.rejects(
    verifyAt(at('proof.json')),
    /the proof of a dump contains no keys; give --keys with a records-keys\.json or its address$/,
  );
});

test('the command ends with 0, 1 or 2', async (t) => {
  const { at } = downloaded(t);
  const keys = ['--keys', join(folder, 'keys.json')];
  const sound = await run(t, tempFolder(t), ['verify', at('proof.json'), at(PARQUET), ...keys]);
  assert.deepEqual([sound.code, sound.stderr], [0, '']);
  assert.match(sound.stdout, /the note holds, and 2026-11-20\.1\.parquet, with each of 12 rows\n/);
  assert.match(sound.stdout, /never that they are complete: names may be left out\.\n/);
  flip(at(PARQUET), 100);
  assert.equal((await run(t, tempFolder(t), ['verify', at('proof.json'), ...keys])).code, 1);
  assert.equal((await run(t, tempFolder(t), ['verify', at('proof.json')])).code, 2);
});

test('a day that is made again is not mistaken for a forged one', async () => {
  const where = `${stand.url}/dumps/2026-11-20/`;
  stand.app.store.records.optOut(parseHostname(present(NAMES[0])), 'asked', 'cli', stand.clock.now);
  await assert.rejects(verifyAt(where), /answered 503; ask again in \d+ s$/);
  await runDumps(stand.app);
  const again = only(await verifyAt(where));
  assert.deepEqual([again.faults, again.generation, again.rows], [[], 2, 11]);
  assert.equal(dumpIndex(stand.app).days[0]?.generation, 2);
});
