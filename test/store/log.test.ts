import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import Database from 'libsql';
import { toHex } from '../../src/proof/bytes.ts';
import { HASH_LENGTH } from '../../src/proof/log/fields.ts';
import { TILE_WIDTH } from '../../src/proof/log/tile.ts';
import { logTree } from '../../src/proof/log/tree.ts';
import { inclusionPaths, leafHash, merkleRoot } from '../../src/proof/merkle.ts';
import { openDatabase } from '../../src/shared/sql/open.ts';
import { type Db, prepareEagerly } from '../../src/shared/sql/sql.ts';
import { logTables } from '../../src/store/log.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { type Scope, tempFolder } from '../support/app-context.ts';
import { emptyDatabase } from '../support/empty-database.ts';
import { LogHeads } from '../support/log-heads.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const CHILD = fileURLToPath(new URL('log-child.ts', import.meta.url));

function opened(t: Scope): { file: string; store: Store } {
  const file = emptyDatabase(tempFolder(t));
  const store = openStore({ file });
  t.after(() => store.database.close());
  return { file, store };
}

const entriesOf = ({ database: { log } }: Store): string[] => log.entries('desk', 0, log.size('desk'));
const entry = (n: number): string => `entry ${n}\n`;

function appendUntil({ database: { log, transact } }: Store, size: number): void {
  transact(() => {
    for (let n = log.size('desk'); n < size; n++) log.append('desk', entry(n));
  });
}

test('processes that append concurrently leave no gap, and each leaf once', { skip: ONLY_WIDE }, async (t) => {
  const { file, store } = opened(t);
  const children = ['one', 'two'].map((owner) => fork(CHILD, [file, owner, '50']));
  t.after(() => {
    for (const child of children) child.kill('SIGKILL');
  });
  await Promise.all(children.map((child) => once(child, 'message')));
  const ended = children.map((child) => once(child, 'exit'));
  for (const child of children) child.send('go');
  assert.deepEqual(
    (await Promise.all(ended)).map(([code]) => code),
    [0, 0],
  );
  const kept = Array.from({ length: 50 }, (_, n) => n).filter((n) => n % 3 !== 2);
  const wanted = ['one', 'two', 'shared'].flatMap((owner) => kept.map((n) => `${owner} ${n}\n`));
  const entries = entriesOf(store);
  assert.deepEqual([...entries].sort(), wanted.sort());
  assert.deepEqual(
    entries.map((text) => store.database.log.indexOf('desk', leafHash(text))),
    entries.map((_, index) => index),
  );
});

test('fifty concurrent appends share a commit; failed ones leave no gap', async (t) => {
  const { store } = opened(t);
  const appended = await Promise.allSettled(
    Array.from({ length: 50 }, (_, n) =>
      store.database.groupCommit(() => {
        store.database.log.append('desk', entry(n));
        if (n % 7 === 3) throw new Error('no');
      }),
    ),
  );
  const kept = appended.flatMap(({ status }, n) => (status === 'fulfilled' ? [entry(n)] : []));
  assert.equal(kept.length, 43);
  assert.deepEqual(entriesOf(store), kept);
});

test('an entry that the log has is not appended again, and the logs know nothing of each other', (t) => {
  const { store } = opened(t);
  store.database.log.append('desk', entry(0));
  store.database.log.append('desk', entry(0));
  store.database.log.append('records', entry(0));
  assert.deepEqual([store.database.log.size('desk'), store.database.log.size('records')], [1, 1]);
  assert.equal(store.database.log.indexOf('records', leafHash(entry(0))), 0);
  assert.equal(store.database.log.indexOf('desk', leafHash(entry(1))), null);
});

test('a transaction that is rolled back leaves no leaf and no gap', (t) => {
  const { store } = opened(t);
  store.database.log.append('desk', entry(0));
  assert.throws(() =>
    store.database.transact(() => {
      store.database.log.append('desk', 'rolled back\n');
      throw new Error('no');
    }),
  );
  store.database.log.append('desk', entry(1));
  assert.deepEqual(entriesOf(store), [entry(0), entry(1)]);
});

test('nothing is appended until the past is filled in', (t) => {
  const { store } = opened(t);
  store.database.log.setFilled('desk', false);
  store.database.log.append('desk', entry(1));
  assert.equal(store.database.log.size('desk'), 0);
  store.database.log.fill('desk', entry(0));
  store.database.log.setFilled('desk', true);
  store.database.log.append('desk', entry(1));
  assert.deepEqual(entriesOf(store), [entry(0), entry(1)]);
});

test('leaves, nodes, heads and cosignatures cannot be changed or removed', (t) => {
  const { file, store } = opened(t);
  const heads = new LogHeads(store.database.log, 'desk');
  appendUntil(store, TILE_WIDTH);
  heads.cosign(heads.sign());
  appendUntil(store, TILE_WIDTH + 1);
  heads.sign();
  const db = new Database(file);
  t.after(() => db.close());
  const refused = (statement: string, why: RegExp) =>
    assert.throws(() => db.exec(statement), { message: why }, statement);
  for (const [table, column] of [
    ['log_leaves', "entry = 'another'"],
    ['log_nodes', 'hash = zeroblob(32)'],
    ['log_cosignatures', "line = 'another'"],
  ] as const) {
    refused(`UPDATE ${table} SET ${column}`, /append-only/);
    refused(`DELETE FROM ${table}`, /append-only/);
  }
  refused('DELETE FROM log_heads', /append-only/);
  for (const column of ['size = 5', "checkpoint = ''", "origin = ''", 'signed_at = 0', 'number = 9', "log = 'records'"])
    refused(`UPDATE log_heads SET ${column} WHERE cosigned IS NULL`, /changes once/);
  refused("UPDATE log_heads SET cosigned = 'another' WHERE cosigned IS NOT NULL", /changes once/);
  refused("INSERT INTO log_leaves VALUES ('desk', 300, zeroblob(32), 'after a gap', NULL)", /no gaps/);
  refused("INSERT INTO log_leaves VALUES ('desk', 0, zeroblob(32), 'in place of another', NULL)", /no gaps/);
  refused("INSERT INTO log_heads VALUES ('desk', 9, 'papers.example/log', 5, 0, '', NULL)", /heads of a log grow/);
});

test('heads grow, and a new origin begins where the last head is', (t) => {
  const { store } = opened(t);
  const {
    database: { log },
  } = store;
  const head = (origin: string, size: number) => log.addHead('desk', { origin, size, signed_at: 1, checkpoint: '' });
  head('one', 3);
  assert.throws(() => head('one', 3), /UNIQUE/);
  assert.throws(() => head('one', 2), /heads of a log grow/);
  head('two', 3);
  assert.throws(() => head('three', 2), /heads of a log grow/);
  head('two', 4);
  assert.deepEqual(
    [...log.heads('desk')].map(({ number, origin, size }) => [number, origin, size]),
    [
      [1, 'one', 3],
      [2, 'two', 3],
      [3, 'two', 4],
    ],
  );
  assert.equal(log.newestHead('desk', 'one')?.size, 3);
  assert.equal(log.newestHead('records', 'one'), null);
});

test('the first cosigned head over a leaf stays the first', (t) => {
  const { file, store } = opened(t);
  const {
    database: { log },
  } = store;
  for (const size of [3, 5, 8]) log.addHead('desk', { origin: 'one', size, signed_at: 1, checkpoint: `at ${size}` });
  assert.equal(log.firstCosignedOver('desk', 0), null);
  assert.equal(log.setCosigned('desk', 'one', 5, 'cosigned 5'), true);
  assert.equal(log.setCosigned('desk', 'one', 5, 'another'), false, 'a cosigned head keeps its text');
  assert.equal(log.setCosigned('desk', 'one', 3, 'too late'), false, 'proofs of its leaves name head 5 by now');
  assert.equal(log.setCosigned('desk', 'one', 8, 'cosigned 8'), true);
  const first = (index: number) => log.firstCosignedOver('desk', index)?.cosigned ?? null;
  assert.deepEqual([0, 4, 5, 7, 8].map(first), ['cosigned 5', 'cosigned 5', 'cosigned 8', 'cosigned 8', null]);
  assert.equal(log.newestCosigned('desk', 'one')?.size, 8);

  log.addHead('desk', { origin: 'two', size: 8, signed_at: 2, checkpoint: '' });
  assert.equal(log.setCosigned('desk', 'two', 8, 'of the new origin'), true);
  assert.equal(first(7), 'cosigned 8', 'a new origin changes no proof');
  assert.equal(log.newestCosigned('desk', 'two')?.size, 8);
  const db = new Database(file);
  t.after(() => db.close());
  assert.throws(() => db.exec("UPDATE log_heads SET cosigned = 'too late' WHERE size = 3"), /later head/);
});

test('the tree at every earlier size is read from the present leaves and nodes, byte for byte', (t) => {
  const { store } = opened(t);
  const heads = new LogHeads(store.database.log, 'desk');
  const hashes: Uint8Array[] = [];
  const given = new Map<number, string>();
  const proofAt = (size: number): string => {
    return logTree(size, store.database.log.tiles('desk'))
      .inclusionProof(size >> 1)
      .map(toHex)
      .join();
  };
  for (const size of [1, 2, 255, 256, 257, 700, ...(ONLY_WIDE === false ? [70_000] : [])]) {
    appendUntil(store, size);
    for (let n = hashes.length; n < size; n++) hashes.push(leafHash(entry(n)));
    heads.sign();
    const tree = logTree(size, store.database.log.tiles('desk'));
    assert.equal(toHex(tree.root()), toHex(merkleRoot(hashes)), `the root at ${size}`);
    assert.deepEqual(tree.inclusionProof(size >> 1).map(toHex), inclusionPaths(hashes)(size >> 1).map(toHex));
    given.set(size, proofAt(size));
  }
  for (const [size, proof] of given) assert.equal(proofAt(size), proof, `the proof at ${size}`);
});

test('a tile is read no wider than asked for', (t) => {
  const { store } = opened(t);
  const heads = new LogHeads(store.database.log, 'desk');
  appendUntil(store, 3 * TILE_WIDTH + 7);
  heads.sign();
  const read = store.database.log.tiles('desk');
  const widthOf = (level: number, index: number, width: number) => read({ level, index, width }).length / HASH_LENGTH;
  assert.deepEqual([widthOf(0, 1, TILE_WIDTH), widthOf(0, 1, 9), widthOf(0, 3, 7), widthOf(1, 0, 2)], [256, 9, 7, 2]);
  assert.deepEqual(
    store.database.log.leafHashes('desk', 300, 302).map(toHex),
    [300, 301].map((n) => toHex(leafHash(entry(n)))),
  );
});

test('no statement of the logs reads a whole table, or sorts what it finds', (t: TestContext) => {
  const db = openDatabase({ file: emptyDatabase(tempFolder(t)) });
  t.after(() => db.close());
  const statements: string[] = [];
  const listening = {
    prepare(sql: string) {
      statements.push(sql.replaceAll(/\s+/g, ' ').trim());
      return db.prepare(sql);
    },
  };
  prepareEagerly(listening as Db);
  logTables(listening as Db);
  assert(statements.length > 15);
  for (const sql of statements) {
    const plan = (db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[]).map(({ detail }) => detail);
    const slow = plan.filter((detail) => /^SCAN (?!CONSTANT)|TEMP B-TREE/.test(detail) || /^SEARCH \w+$/.test(detail));
    assert.deepEqual(slow, [], `${sql}\n${plan.join('\n')}`);
  }
});
