import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { SqlQueries } from '../../../../src/records/sql-query.ts';
import { probe } from '../../../support/probes.ts';
import { type RecordsStand, recordsStand } from '../../../support/records-fixture.ts';
import { send } from '../../../support/send.ts';

interface Said {
  status: number;
  text: string;
  columns: string[];
  rows: unknown[][];
  truncated: false | string;
  message: string;
}

function querying({ url, keyOf }: RecordsStand) {
  const headers = { 'x-service-key': keyOf('operator') };
  return async (sql: string, max_rows?: number): Promise<Said> => {
    const body = { sql, ...(max_rows === undefined ? {} : { max_rows }) };
    const { status, text } = await send(url, { method: 'POST', path: '/v1/bq/query', headers, body });
    return { status, text, ...JSON.parse(text) };
  };
}

/** A stand that holds two looks, an account, and keys that no query may see. */
async function stocked(t: Parameters<typeof recordsStand>[0]) {
  const stand = await recordsStand(t);
  stand.keyOf('account', 'secret@example.org');
  stand.enter(
    probe('a.example.com', stand.clock.now, { A: ['192.0.2.1'] }),
    probe('a.example.com', stand.clock.now + 1, { A: ['192.0.2.2'] }),
  );
  return { ...stand, query: querying(stand) };
}

test('every table matches its description and is readable', async (t) => {
  const { url, keyOf, query } = await stocked(t);
  const headers = { 'x-service-key': keyOf('operator') };
  const { text } = await send(url, { path: '/v1/bq/tables', headers });
  const { items } = JSON.parse(text) as { items: { name: string; columns: { name: string }[] }[] };
  assert.deepEqual(items.map(({ name }) => name).sort(), [
    ...['changes_by_day', 'deltas', 'domains', 'facets', 'observations', 'opt_outs', 'sightings', 'standing'],
  ]);
  const counts = new Map<string, unknown>();
  for (const { name, columns } of items) {
    const { status, columns: found, rows } = await query(`SELECT * FROM ${name}`);
    assert.equal(status, 200, name);
    assert.deepEqual(
      found,
      columns.map((column) => column.name),
      name,
    );
    counts.set(name, rows.length);
    assert.deepEqual((await query(`SELECT count(*) FROM "${name}" -- all of them`)).rows, [[rows.length]]);
  }
  assert.deepEqual([counts.get('domains'), counts.get('observations'), counts.get('deltas')], [1, 2, 1]);
});

test('a query supports SQL, and values keep their types', async (t) => {
  const { query } = await stocked(t);
  const rows = async (sql: string) => (await query(sql)).rows;
  assert.deepEqual(await rows('SELECT domain, state, seq FROM domains;'), [['a.example.com', 'watched', 2]]);
  assert.deepEqual(
    await rows(`SELECT domain, json_extract(after, '$[0]') AS a FROM deltas WHERE signal = 'A' ORDER BY a`),
    [['a.example.com', '192.0.2.2']],
  );
  assert.deepEqual(await rows(`SELECT value FROM standing, json_each("values") WHERE signal = 'A'`), [['192.0.2.2']]);
  assert.deepEqual(await rows(`SELECT 9007199254740993, 1e999, x'00ff', NULL, 0.5, 'é', 1 AS "1"`), [
    ['9007199254740993', 'Infinity', { base64: 'AP8=' }, null, 0.5, 'é', 1],
  ]);
  assert.deepEqual((await query('SELECT 1 AS a, 2 AS a')).columns, ['a', 'a']);
  const sql = `WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n WHERE x < 5)
    SELECT x, sum(x) OVER (ORDER BY x) /* ; */ FROM n -- ;`;
  assert.deepEqual(await rows(sql), [
    [1, 1],
    [2, 3],
    [3, 6],
    [4, 10],
    [5, 15],
  ]);
  assert.deepEqual(await rows(`SELECT 'a;b', ";", ';;' FROM (SELECT 1 AS ";")`), [['a;b', 1, ';;']]);
});

test('nothing can be written, attached, set or loaded', async (t) => {
  const { query, app } = await stocked(t);
  const before = app.store.records.deltaTotals();
  const tries = [
    `INSERT INTO hostnames (hostname) VALUES ('x')`,
    `UPDATE hostnames SET state = 'paused'`,
    `UPDATE domains SET state = 'paused'`,
    'DELETE FROM deltas',
    `WITH x AS (SELECT 1) DELETE FROM deltas WHERE seq IN (SELECT * FROM x)`,
    `REPLACE INTO opt_outs VALUES ('x', 'x', 1, 'x')`,
    'DELETE FROM deltas RETURNING seq',
    'DROP TABLE service_keys',
    'CREATE TABLE x (a)',
    'CREATE TEMP TABLE x (a)',
    'CREATE TEMP VIEW x AS SELECT * FROM main.service_keys',
    `CREATE TEMP TRIGGER x AFTER INSERT ON main.deltas BEGIN SELECT 1; END`,
    `ATTACH DATABASE '/tmp/x.db' AS x`,
    'DETACH main',
    'VACUUM',
    `VACUUM INTO '/tmp/x.db'`,
    'PRAGMA query_only = OFF',
    'PRAGMA writable_schema = 1',
    'PRAGMA table_info(service_keys)',
    'PRAGMA database_list',
    'BEGIN IMMEDIATE',
    'SAVEPOINT a',
    'ANALYZE',
    'REINDEX',
    'ALTER TABLE deltas RENAME TO x',
    `SELECT load_extension('/tmp/x.so')`,
    `SELECT fts3_tokenizer('simple')`,
    `SELECT writefile('/tmp/x', 'x')`,
    'SELECT 1; DROP TABLE deltas',
    'SELECT 1 /* ; */ ; SELECT 2',
    '',
    '  ',
    '-- nothing',
    ';;',
    'EXPLAIN DELETE FROM deltas',
    'SELECT',
    'nonsense',
  ];
  for (const sql of tries) {
    const { status, text } = await query(sql);
    assert.equal(status, 400, `${sql} → ${text}`);
    assert.doesNotMatch(text, /broadsheet\.db|\/var\/|node:/, sql);
  }
  assert.deepEqual(app.store.records.deltaTotals(), before);
});

test('keys, accounts, the schema and the seeds of salts are out of reach, however they are named', async (t) => {
  const { query } = await stocked(t);
  const tries = [
    'SELECT * FROM service_keys',
    'SELECT hash FROM main.service_keys',
    'SELECT "hash" FROM "main"."service_keys"',
    'SELECT count(*) FROM service_keys',
    'SELECT 1 FROM service_keys',
    'SELECT 1 FROM Service_Keys AS domains',
    'SELECT 1 FROM main."SERVICE_KEYS"',
    'SELECT COUNT(*) FROM [Service_keys] AS n',
    'SELECT "HASH" FROM Service_Keys',
    'SELECT Seed FROM main.Observations',
    'SELECT count(*) FROM sqlite_schema',
    'SELECT count(*) FROM SQLITE_MASTER',
    'SELECT rowid FROM service_keys',
    'SELECT (SELECT hash FROM service_keys LIMIT 1)',
    'SELECT domain FROM domains WHERE EXISTS (SELECT 1 FROM service_keys WHERE hash > "a")',
    'SELECT domain FROM domains UNION SELECT hash FROM service_keys',
    // A part of the query that has a view's name.
    'WITH domains AS (SELECT hash FROM service_keys) SELECT * FROM domains',
    'SELECT * FROM (SELECT hash FROM service_keys) AS deltas',
    'SELECT email FROM accounts',
    'SELECT * FROM sqlite_schema',
    'SELECT * FROM sqlite_master',
    'SELECT * FROM sqlite_temp_schema',
    'SELECT sql FROM main.sqlite_schema',
    `SELECT * FROM pragma_table_info('service_keys')`,
    'SELECT * FROM pragma_database_list',
    'SELECT * FROM pragma_compile_options',
    'SELECT * FROM dbstat',
    'SELECT * FROM sqlite_dbpage',
    'SELECT * FROM sqlite_stmt',
    `SELECT * FROM bytecode('SELECT 1')`,
    'SELECT * FROM hostname_labels',
    'SELECT * FROM hostname_labels_data',
    'SELECT seed FROM observations',
    'SELECT seed FROM main.observations',
    'SELECT lease FROM main.hostnames',
    'SELECT made_by FROM main.opt_outs',
    'SELECT * FROM main.observations',
    'SELECT body FROM mails',
    'SELECT * FROM pieces',
    'SELECT * FROM migrations',
    'SELECT sqlite_version()',
    'SELECT a.hash FROM service_keys AS a JOIN domains',
    'SELECT group_concat(hash) OVER () FROM service_keys',
  ];
  for (const sql of tries) {
    const { status, text } = await query(sql);
    assert.equal(status, 400, `${sql} → ${text}`);
    assert.doesNotMatch(text, /[0-9a-f]{64}|secret@/, sql);
  }
});

test('queries that would never end or fit are aborted, and routes answer meanwhile', async (t) => {
  const { query, url, app } = await stocked(t);
  const desk = new SqlQueries(app, 700);
  const forever = 'WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n)';
  let isOver = false;
  const endless = assert
    .rejects(desk.query(`${forever} SELECT max(x) FROM n`, 10), {
      code: 'unavailable',
      message: /more than 0\.7 sec/,
    })
    .then(() => {
      isOver = true;
    });
  const memory = `${forever}, m(x) AS (SELECT randomblob(3000000) FROM n) SELECT x FROM m ORDER BY x`;
  const greedy = assert.rejects(desk.query(memory, 10), { code: 'unavailable', message: /ask for less/ });
  assert.equal((await send(url, { path: '/health' })).status, 200);
  assert.ok(!isOver, 'the doors did not wait for the query');
  await Promise.all([endless, greedy]);
  assert.deepEqual((await desk.query('SELECT 1', 10)).rows, [[1]], 'another process takes the place of the dead one');

  const rows = await query(`${forever} SELECT x FROM n`, 10_000);
  assert.deepEqual([rows.status, rows.rows.length, rows.truncated], [200, 10_000, 'rows']);
  const wide = await query(`${forever} SELECT printf('%.*c', 100000, 'x') FROM n`, 10_000);
  assert.deepEqual([wide.status, wide.truncated, wide.rows.length < 100], [200, 'size', true]);
  const large = await query('SELECT randomblob(1000000000)');
  assert.deepEqual([large.status, /too big/.test(large.message)], [400, true], large.text);
});

test('ten concurrent queries are all answered, also while hostnames are probed', async (t) => {
  const { query, enter, clock } = await stocked(t);
  const tag = randomBytes(4).toString('hex');
  const asked = Promise.all(
    Array.from({ length: 10 }, (_, n) => query(`SELECT '${tag}' || ${n}, count(*) FROM observations`)),
  );
  for (let n = 0; n < 20; n++) enter(probe(`h${n}.example.com`, clock.now + 1, { A: ['192.0.2.1'] }));
  for (const [n, { status, rows }] of (await asked).entries()) {
    assert.equal(status, 200);
    assert.equal(rows[0]?.[0], `${tag}${n}`);
  }
  assert.deepEqual((await query('SELECT count(*) FROM observations')).rows, [[22]]);
});

test('SQL is the operators’ alone', async (t) => {
  const { url, keyOf } = await recordsStand(t);
  for (const [method, path] of [
    ['GET', '/v1/bq/tables'],
    ['POST', '/v1/bq/query'],
  ] as const) {
    assert.equal((await send(url, { method, path })).status, 401);
    for (const level of ['account', 'service', 'scanner'] as const) {
      const headers = { 'x-service-key': keyOf(level) };
      assert.equal((await send(url, { method, path, headers })).status, 403, `${path} with ${level}`);
    }
  }
});
