import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { present } from '../../src/proof/narrow.ts';
import type { StoredObservation } from '../../src/records/archive/observation-row.ts';
import { sightingsOf } from '../../src/records/archive/sightings.ts';
import { pathOf } from '../../src/records/hostname.ts';
import { PROJECT } from '../../src/shared/project.ts';
import { type Scope, tempFolder } from '../support/app-context.ts';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/program.ts';
import { DEPLOY } from './fixture.ts';

/** What engines spell in their own ways: times in ms, and the first 32 bits of the MD5 of a text as a number. */
interface Dialect {
  ms(column: string): string;
  hash(text: string): string;
}

/** An engine that reads an archive with the views of `deploy/engines`. Rows are lists of texts. */
export interface Engine {
  name: string;
  /** Why it is skipped here. */
  missing: string | false;
  dialect: Dialect;
  ask(t: Scope, archive: string, queries: readonly string[]): Promise<string[][][]>;
}

/** The statements of a file, with the archive's address. */
function statementsOf(file: string, archive: string): string[] {
  const sql = readFileSync(join(DEPLOY, 'engines', file), 'utf8').replace(/^--.*$/gm, '');
  return sql
    .replaceAll('ARCHIVE', archive)
    .split(/;\s*$/m)
    .filter((statement) => statement.trim() !== '');
}

/** The part of DuckDB's package that this uses. */
interface DuckDb {
  DuckDBInstance: { create(): Promise<{ connect(): Promise<DuckDbConnection> }> };
}
interface DuckDbConnection {
  run(sql: string): Promise<unknown>;
  runAndReadAll(sql: string): Promise<{ getRowsJson(): unknown[][] }>;
  closeSync(): void;
}
const PACKAGE = '@duckdb/node-api';
const duckdbModule = (await import(PACKAGE).catch(() => null)) as DuckDb | null;

const duckdb: Engine = {
  name: 'DuckDB',
  missing: duckdbModule === null && `${PACKAGE} is not installed`,
  dialect: {
    ms: (column) => `epoch_ms(${column})`,
    hash: (value) => `CAST('0x' || md5(${value})[:8] AS BIGINT)`,
  },
  async ask(t, archive, queries) {
    const connection = await (duckdbModule as DuckDb).DuckDBInstance.create().then((instance) => instance.connect());
    t.after(() => connection.closeSync());
    for (const statement of statementsOf('duckdb.sql', archive)) await connection.run(statement);
    const found: string[][][] = [];
    for (const query of queries) {
      found.push((await connection.runAndReadAll(query)).getRowsJson().map((row) => row.map(String)));
    }
    return found;
  },
};

/** Whether the Python of the PATH has a module. */
function lacks(module: string): string | false {
  return spawnSync('python3', ['-c', `import ${module}`]).status !== 0 && `python3 has no module ${module}`;
}

async function askPython(name: string, setup: readonly string[], queries: readonly string[]): Promise<string[][][]> {
  const child = spawn('python3', [join(PROJECT, 'test/deploy/engines.py'), name], { stdio: 'pipe' });
  child.stdin.end(JSON.stringify({ setup, queries }));
  const [out, problems] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (out === '') throw new Error(problems.slice(-4_000));
  return JSON.parse(out) as string[][][];
}

const clickhouse: Engine = {
  name: 'ClickHouse (chdb)',
  missing: lacks('chdb'),
  dialect: {
    ms: (column) => `toUnixTimestamp64Milli(${column})`,
    hash: (value) => `toInt64(reinterpretAsUInt32(reverse(substring(MD5(${value}), 1, 4))))`,
  },
  ask(_t, archive, queries) {
    const setup = statementsOf('clickhouse.sql', archive).map((statement) =>
      statement.replace(/\bs3\(('[^']*'), 'KEY_ID', 'SECRET', Parquet\)/, 'file($1, Parquet)'),
    );
    return askPython('chdb', setup, queries);
  },
};

const spark: Engine = {
  name: 'Spark',
  missing: lacks('pyspark'),
  dialect: {
    ms: (column) => `unix_millis(${column})`,
    hash: (value) => `CAST(conv(substr(md5(${value}), 1, 8), 16, 10) AS BIGINT)`,
  },
  ask: (_t, archive, queries) => askPython('spark', statementsOf('spark.sql', archive), queries),
};

const { TRINO_HOME } = process.env;

/** Trino with two workers, one of which coordinates. TRINO_HOME is its folder; its Java is the first on the PATH. */
const trino: Engine = {
  name: 'Trino',
  missing: TRINO_HOME === undefined && 'TRINO_HOME is not set',
  dialect: {
    ms: (column) => `CAST(to_unixtime(with_timezone(${column}, 'UTC')) * 1000 AS bigint)`,
    hash: (value) => `from_base(substr(to_hex(md5(to_utf8(${value}))), 1, 8), 16)`,
  },
  async ask(t, archive, queries) {
    const port = await freePort();
    const work = tempFolder(t);
    startTrino(t, { work: join(work, 'one'), port, coordinator: port, archive: dirname(archive) });
    startTrino(t, { work: join(work, 'two'), port: await freePort(), coordinator: port, archive: dirname(archive) });
    const run = (sql: string) => askTrino(`http://127.0.0.1:${port}`, sql);
    const nodes = () => run('SELECT count(*) FROM system.runtime.nodes').catch(() => []);
    await until(async () => (await nodes())[0]?.[0] === '2' || null);
    for (const statement of statementsOf('trino.sql', `local:///${basename(archive)}`)) await run(statement);
    const found: string[][][] = [];
    for (const query of queries) found.push(await run(query));
    return found;
  },
};

function startTrino(
  t: Scope,
  { work, port, coordinator, archive }: { work: string; port: number; coordinator: number; archive: string },
): void {
  const isFirst = port === coordinator;
  const files = {
    'node.properties': `node.environment=test\nnode.id=${isFirst ? 'one' : 'two'}\nnode.data-dir=${work}/data\n`,
    'config.properties': [
      ...[`coordinator=${isFirst}`, `http-server.http.port=${port}`, 'node.internal-address=127.0.0.1'],
      `discovery.uri=http://127.0.0.1:${coordinator}`,
      ...(isFirst ? ['node-scheduler.include-coordinator=true'] : []),
    ].join('\n'),
    'jvm.config':
      '-Xmx2G\n-Duser.timezone=UTC\n-Djdk.attach.allowAttachSelf=true\n--enable-native-access=ALL-UNNAMED\n',
    'log.properties': 'io.trino=WARN\n',
    'catalog/hive.properties': [
      ...['connector.name=hive', 'hive.metastore=file', 'hive.metastore.catalog.dir=local:///trino-metastore'],
      ...['fs.native-local.enabled=true', `local.location=${archive}`, 'hive.parquet.time-zone=UTC'],
      'hive.non-managed-table-writes-enabled=false',
    ].join('\n'),
  };
  mkdirSync(join(work, 'etc/catalog'), { recursive: true });
  for (const [name, content] of Object.entries(files)) writeFileSync(join(work, 'etc', name), content);
  const child = spawn(join(TRINO_HOME ?? '', 'bin/launcher'), ['run', '--etc-dir', join(work, 'etc')], {
    stdio: 'ignore',
  });
  t.after(() => child.kill('SIGKILL'));
}

interface TrinoAnswer {
  data?: unknown[][];
  nextUri?: string;
  error?: { message: string };
}

/** A reviver of JSON that leaves integers as they are written. Node 24 gives it the source of each. */
function withDigits(_: string, value: unknown, { source }: { source?: string } = {}): unknown {
  return typeof value === 'number' && source !== undefined && /^-?\d+$/.test(source) ? source : value;
}

async function askTrino(base: string, sql: string): Promise<string[][]> {
  const headers = { 'x-trino-user': 'test', 'x-trino-catalog': 'hive', 'x-trino-schema': 'archive' };
  const rows: string[][] = [];
  // Sums of many rows are larger than the integers that a number can hold.
  const read = async (response: Response) => JSON.parse(await response.text(), withDigits) as TrinoAnswer;
  let answer = await read(await fetch(`${base}/v1/statement`, { method: 'POST', body: sql, headers }));
  for (;;) {
    if (answer.error !== undefined) throw new Error(`${answer.error.message}: ${sql}`);
    rows.push(...(answer.data ?? []).map((row) => row.map(String)));
    if (answer.nextUri === undefined) return rows;
    answer = await read(await fetch(answer.nextUri));
  }
}

export const ENGINES = { duckdb, clickhouse, trino, spark };

const EPOCH = 1_700_000_000_000;

/** What all engines must find: counts, sums of numbers, of times and of the hashes of texts, of each table. */
export function sumsIn({ ms, hash }: Dialect, path: string, value: string): string[] {
  const time = (column: string) => `sum(${ms(column)} - ${EPOCH})`;
  const seen = `sum(count), sum(count * ${hash("path || ' ' || signal || ' ' || value")}), ${time('first_seen')}, ${time('last_seen')}`;
  return [
    `SELECT count(*), sum(seq), ${time('observed_at')}, sum(${hash('body')}), sum(${hash('domain')}) FROM observations`,
    `SELECT count(*), sum(seq) FROM observations WHERE path = '${path}'`,
    `SELECT count(*), sum(seq), ${time('changed_at')}, sum(${hash('before')}), sum(${hash('after')}) FROM deltas`,
    `SELECT ${seen} FROM sightings`,
    `SELECT ${seen} FROM sightings_by_value`,
    `SELECT sum(count) FROM sightings_by_value WHERE value = '${value}'`,
  ];
}

type Stored = Pick<StoredObservation, 'seq' | 'hostname' | 'observed_at' | 'body'>;

/** Of each of these the same, as engines print it: observations that come by name, and changes. */
export async function sumsOf(
  observations: Iterable<Stored> | AsyncIterable<Stored>,
  deltas: Iterable<{ seq: number; at: number; before: unknown; after: unknown }>,
  { path, value, closed }: { path: string; value: string; closed: number },
): Promise<string[][][]> {
  const [observed, own, changed, seen, who] = [5, 2, 5, 4, 1].map((count) => Array<bigint>(count).fill(0n));
  const add = (sums: bigint[] | undefined, ...numbers: number[]) => {
    for (const [n, number] of numbers.entries()) present(sums)[n] = (sums?.[n] ?? 0n) + BigInt(number);
  };
  const closedOnes = async function* () {
    for await (const { seq, hostname, observed_at, body } of observations) {
      add(observed, 1, seq, observed_at - EPOCH, hashOf(body), hashOf(hostname));
      const row = { path: pathOf(hostname), domain: hostname, observed_at, body };
      if (row.path === path) add(own, 1, seq);
      if (observed_at < closed) yield row;
    }
  };
  for await (const { count, path, signal, value: shown, first_seen, last_seen } of sightingsOf(closedOnes())) {
    add(seen, count, count * hashOf(`${path} ${signal} ${shown}`), first_seen - EPOCH, last_seen - EPOCH);
    if (shown === value) add(who, count);
  }
  for (const { seq, at, before, after } of deltas) {
    add(changed, 1, seq, at - EPOCH, hashOf(asText(before)), hashOf(asText(after)));
  }
  return [observed, own, changed, seen, seen, who].map((sums) => [present(sums).map(String)]);
}

const asText = (list: unknown): string => (typeof list === 'string' ? list : JSON.stringify(list));

function hashOf(value: string): number {
  return createHash('md5').update(value).digest().readUInt32BE(0);
}
