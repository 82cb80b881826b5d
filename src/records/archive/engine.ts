import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Settings } from '../../server/env.ts';
import { Fault, messageOf } from '../../shared/fault.ts';
import { folderOfNode } from '../../shared/nodes.ts';
import { PROJECT } from '../../shared/project.ts';
import type { S3Address } from '../../shared/storage/address.ts';
import { archiveAddress } from '../../shared/storage/archive-place.ts';

/** The part of DuckDB's package that this uses. */
interface DuckDb {
  StatementType: { SELECT: number };
  DuckDBInstance: {
    create(
      path: string,
      options: Record<string, string>,
    ): Promise<{ connect(): Promise<Connection>; closeSync(): void }>;
  };
}
interface Connection {
  run(sql: string): Promise<unknown>;
  runAndReadAll(sql: string, values: string[]): Promise<Rows>;
  extractStatements(sql: string): Promise<{ count: number; prepare(index: number): Promise<Statement> }>;
}
interface Statement {
  statementType: number;
  runAndReadUntil(rows: number): Promise<Rows>;
}
interface Rows {
  getRowObjectsJson(): Record<string, unknown>[];
}

/** Optional: 70 MB of native code. A constant, so that no bundler or linter resolves a package that may be absent. */
const PACKAGE = '@duckdb/node-api';
/** The folders that a query may read. Seeds are not among them. */
const ROOTS = ['observations', 'observations_open', 'deltas', 'sightings', 'sightings_by_value'];
/** The most characters of a refused query that an error message quotes. */
const SHOWN_MAX = 200;
/** The resources that one query may use. */
const OPTIONS = { memory_limit: '1GB', threads: '2' };

/**
 * Runs one SELECT on the views of `deploy/engines/duckdb.sql`; the query can read only the archive's tables. Returns at
 * most `limit` rows. Throws `invalid_request` without ARCHIVE_URL or DuckDB, and when DuckDB rejects the query.
 */
export async function queryArchive(settings: Settings, sql: string, limit: number): Promise<Record<string, unknown>[]> {
  if (settings.archiveUrl === null) throw new Fault('invalid_request', 'ARCHIVE_URL is not set; set it to the archive');
  const address = archiveAddress(settings.archiveUrl, settings);
  const all = address.kind === 's3' ? `s3://${address.bucket}/${address.prefix}` : `${address.folder}/`;
  const own = settings.nodes?.own ?? null;
  const base = (own === null ? all : all + folderOfNode(own.name)).replace(/\/$/, '');
  if (/[*?[\]]/.test(base)) {
    throw new Fault(
      'invalid_request',
      `DuckDB takes ${base} for a pattern; move the archive to a name without *, ?, [ and ]`,
    );
  }
  const duckdb = await load();
  const instance = await duckdb.DuckDBInstance.create(':memory:', OPTIONS);
  try {
    const connection = await instance.connect();
    if (address.kind === 's3') await openBucket(connection, address, settings);
    const views = readFileSync(join(PROJECT, 'deploy/engines/duckdb.sql'), 'utf8').replaceAll('ARCHIVE', quoted(base));
    await connection.run(views);
    const allowed = ROOTS.map((root) => `'${quoted(base)}/${root}/'`);
    await connection.run(`SET allowed_directories = [${allowed.join(', ')}]`);
    await connection.run('SET enable_external_access = false; SET lock_configuration = true');
    // Preparing a statement can already write: EXPORT DATABASE creates its folder then. This call only parses.
    const parsed = await connection.runAndReadAll('SELECT json_serialize_sql($1::VARCHAR) AS tree', [sql]);
    const { error, error_type: kind } = JSON.parse(String(parsed.getRowObjectsJson()[0]?.tree));
    // The next step reports syntax errors.
    const statements = error === true && kind !== 'parser' ? null : await connection.extractStatements(sql);
    const statement = statements?.count === 1 ? await statements.prepare(0) : null;
    // DuckDB's allow-list covers writes too, so COPY could overwrite the tables. Only SELECT is accepted.
    if (statement?.statementType !== duckdb.StatementType.SELECT) {
      throw new Fault('invalid_request', `give one SELECT, not ${JSON.stringify(sql.slice(0, SHOWN_MAX))}`);
    }
    return (await statement.runAndReadUntil(limit)).getRowObjectsJson().slice(0, limit);
  } catch (error) {
    throw error instanceof Fault ? error : new Fault('invalid_request', `DuckDB: ${messageOf(error)}`);
  } finally {
    instance.closeSync();
  }
}

async function load(): Promise<DuckDb> {
  return (import(PACKAGE) as Promise<DuckDb>).catch((error: unknown) => {
    throw new Fault(
      'invalid_request',
      `${PACKAGE} cannot be loaded (${messageOf(error).split('\n')[0]}); run npm install --no-save ${PACKAGE} beside the program`,
    );
  });
}

async function openBucket(connection: Connection, { endpoint, region }: S3Address, { objectStorage }: Settings) {
  await connection.run('INSTALL httpfs; LOAD httpfs').catch(() => connection.run('LOAD httpfs'));
  const { protocol, host } = new URL(endpoint);
  const { accessKeyId = '', secretAccessKey = '', sessionToken = '' } = objectStorage;
  const parts = Object.entries({
    ...{ KEY_ID: accessKeyId, SECRET: secretAccessKey, SESSION_TOKEN: sessionToken, REGION: region, ENDPOINT: host },
    URL_STYLE: 'path',
  }).flatMap(([name, value]) => (value === '' ? [] : [`${name} '${quoted(value)}'`]));
  await connection.run(`CREATE SECRET (TYPE s3, ${parts.join(', ')}, USE_SSL ${protocol === 'https:'})`);
}

const quoted = (text: string): string => text.replaceAll("'", "''");
