import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'libsql';
import { Fault } from '../../src/shared/fault.ts';
import { IN_MEMORY } from '../../src/shared/sql/open.ts';
import { bytes, flag, integer, json, oneOf, orNull, prepareEagerly, sql, text } from '../../src/shared/sql/sql.ts';
import { openStore } from '../../src/store/store.ts';
import { tempFolder } from '../support/app-context.ts';

const open = () => {
  const db = new Database(':memory:');
  db.exec(`CREATE TABLE notes (id TEXT PRIMARY KEY, n INTEGER NOT NULL, body BLOB, tags TEXT, kind TEXT NOT NULL) STRICT;
    INSERT INTO notes VALUES ('a', 1, x'00ff', '["x"]', 'long'), ('b', 0, NULL, NULL, 'short')`);
  return sql(db);
};
const NOTE = {
  id: text,
  n: integer,
  body: orNull(bytes),
  tags: orNull(json<string[]>()),
  kind: oneOf('long', 'short'),
};
const A = { id: 'a', n: 1, body: new Uint8Array([0, 255]), tags: ['x'], kind: 'long' };
const B = { id: 'b', n: 0, body: null, tags: null, kind: 'short' };

test('rows are plain objects of the named columns, whichever way they are read', () => {
  const { one, all, each } = open();
  assert.deepEqual(one('SELECT * FROM notes WHERE id = ?', NOTE)('a'), A);
  assert.deepEqual(all('SELECT * FROM notes ORDER BY id', NOTE)(), [A, B]);
  assert.deepEqual([...each('SELECT * FROM notes ORDER BY id', NOTE)()], [A, B]);
});

test('a column by itself is read as its value', () => {
  const { one, all } = open();
  assert.equal(one('SELECT count(*) FROM notes', integer)(), 2);
  assert.deepEqual(all('SELECT n FROM notes ORDER BY id', flag)(), [true, false]);
  assert.equal(one('SELECT max(n) FROM notes WHERE id > ?', orNull(integer))('z'), null);
});

test('a converted row replaces the original', () => {
  const { one, all } = open();
  assert.equal(one('SELECT id, n FROM notes', { id: text, n: integer }, ({ id, n }) => `${id}${n}`)(), 'a1');
  assert.deepEqual(all('SELECT id FROM notes ORDER BY id', text, (id) => id.toUpperCase())(), ['A', 'B']);
});

test('no row is null, also after a row was found', () => {
  const { one } = open();
  const find = one('SELECT id FROM notes WHERE id = ?', text);
  assert.deepEqual([find('a'), find('z'), find('b'), find('z')], ['a', null, 'b', null]);
});

test('a parameter alone may be null or bytes', () => {
  const { one, run } = open();
  assert.equal(one('SELECT id FROM notes WHERE body IS ?', text)(null), 'b');
  assert.equal(one('SELECT id FROM notes WHERE body IS ?', text)(new Uint8Array([0, 255])), 'a');
  assert.equal(run('UPDATE notes SET n = 7 WHERE tags IS ?')(null), 1);
});

test('a write gives the number of changed rows, or the rows that it returns', () => {
  const { one, all, run } = open();
  assert.equal(run('UPDATE notes SET n = n + 1')(), 2);
  assert.equal(one('UPDATE notes SET n = n + 1 RETURNING n', integer)(), 3);
  assert.deepEqual(all('SELECT n FROM notes ORDER BY id', integer)(), [3, 2]);
});

test('an object is inserted as a row, or replaces what a row with its key says', () => {
  const { insert, upsert, one } = open();
  const note = { id: 'c', n: true, body: new Uint8Array([7]), tags: ['y', 'z'], kind: 'long' as const };
  const find = one('SELECT * FROM notes WHERE id = ?', NOTE);
  assert.equal(insert('notes', NOTE)(note), 1);
  assert.deepEqual(find('c'), { ...note, n: 1 });
  assert.equal(insert('notes', NOTE, 'ON CONFLICT DO NOTHING')(note), 0);
  assert.equal(upsert('notes', ['id'], ['n', 'tags', 'kind'])({ ...note, n: 2, tags: null }), 1);
  assert.deepEqual(find('c'), { ...note, n: 2, tags: null });
  const { n: _, ...lacking } = note;
  assert.throws(() => insert('notes', NOTE)(lacking as unknown as typeof note), /column n of notes has no value/);
});

test('a number, whether there is a row, and whether one was changed', () => {
  const { number, has, changed } = open();
  assert.deepEqual([number('SELECT max(n) FROM notes')(), number('SELECT n FROM notes WHERE id = ?')('z')], [1, 0]);
  assert.equal(number('SELECT max(n) FROM notes WHERE id = ?')('z'), 0);
  const isThere = has('SELECT 1 FROM notes WHERE id = ?');
  assert.deepEqual([isThere('a'), isThere('z')], [true, false]);
  const remove = changed('DELETE FROM notes WHERE id = ?');
  assert.deepEqual([remove('a'), remove('a')], [true, false]);
});

test('a statement that lacks a column is refused when it is prepared', () => {
  const { all } = open();
  const read = all('SELECT id FROM notes', NOTE);
  assert.throws(() => read(), /no column n in: SELECT id FROM notes/);
});

test('a connection can prepare its statements up front', () => {
  const db = new Database(':memory:');
  db.exec('CREATE TABLE notes (id TEXT)');
  prepareEagerly(db);
  const { all, run } = sql(db);
  assert.throws(() => all('SELECT id FROM notes', NOTE), /no column n in: SELECT id FROM notes/);
  assert.throws(() => run('DELETE FROM letters'), /no such table: letters/);
});

test('every statement of the store is sound', () => {
  openStore({ file: IN_MEMORY }).database.close();
});

test('a value of the wrong type names its column and statement', () => {
  const { one } = open();
  const read = (reading: Parameters<typeof one>[1], column: string) => () =>
    one(`SELECT ${column} AS it FROM notes WHERE id = 'a'`, { it: reading as typeof text })();
  assert.throws(read(integer, 'id'), /column it: "a" is not a whole number, in: SELECT id AS it/);
  assert.throws(read(text, 'n'), /column it: 1 is not a text/);
  assert.throws(read(text, 'NULL'), /column it: null is not a text/);
  assert.throws(read(flag, '2'), /2 is not 0 or 1/);
  assert.throws(read(bytes, 'id'), /"a" is not bytes/);
  assert.throws(read(oneOf('short', 'middle'), 'kind'), /"long" is not short or middle/);
  assert.throws(read(json(), 'kind'), /column it: .*JSON/);
});

test('a whole number that JavaScript would round is refused', () => {
  const { one } = open();
  assert.equal(one('SELECT 9007199254740991', integer)(), 2 ** 53 - 1);
  assert.throws(() => one('SELECT 9007199254740993', integer)(), /is not a whole number/);
});

test('a write that does not get the lock keeps no other from being committed', (t) => {
  const file = join(tempFolder(t), 'locked.db');
  const [holder, db] = [new Database(file), new Database(file)];
  t.after(() => [holder, db].map((one) => one.close()));
  holder.exec('PRAGMA journal_mode = WAL; CREATE TABLE notes (id TEXT) STRICT');
  db.exec('PRAGMA busy_timeout = 0');
  const { run, one, all } = sql(db);
  const insert = run('INSERT INTO notes VALUES (?)');
  const writes = [
    insert,
    one('INSERT INTO notes VALUES (?) RETURNING id', text),
    all('INSERT INTO notes VALUES (?) RETURNING id', text),
  ];
  for (const write of writes) {
    holder.exec('BEGIN IMMEDIATE');
    assert.throws(() => write('not written'), /database is locked/);
    holder.exec('COMMIT');
    db.exec('BEGIN IMMEDIATE');
    insert('written');
    db.exec('COMMIT');
  }
  assert.deepEqual(all('SELECT DISTINCT id FROM notes', text)(), ['written']);
});

test('a text that would come back cut or changed is refused, and asking for one finds nothing', () => {
  const { run, one, all, insert } = open();
  const put = run("INSERT INTO notes VALUES (?, 1, NULL, ?, 'long')");
  const read = one('SELECT tags FROM notes WHERE id = ?', orNull(text));
  for (const hostile of ['a\0b', '\0', '\ud800', 'a\udc00b']) {
    assert.throws(() => put('c', hostile), /U\+0000|surrogate/);
    assert.throws(() => put(hostile, 'c'), /U\+0000|surrogate/);
    assert.throws(() => insert('notes', ['id', 'n', 'kind'])({ id: hostile, n: 1, kind: 'long' }), Fault);
    const unpacked = "INSERT INTO notes SELECT value ->> 0, 1, NULL, NULL, 'long' FROM json_each(?)";
    assert.throws(() => run(unpacked)(JSON.stringify([[hostile]])), Fault);
    // What is read is not changed, but half of a pair would end this process.
    assert.throws(() => all('SELECT value FROM json_each(?)', text)(JSON.stringify([hostile])), Fault);
    assert.equal(read(hostile), null);
  }
  const whole = `${'x'.repeat(65_536)}\\u0000 \\\\ud800 😀`;
  put('c', whole);
  assert.equal(read('c'), whole);
  run("INSERT INTO notes SELECT 'd', 1, NULL, value, 'long' FROM json_each(?)")(JSON.stringify([whole]));
  assert.equal(read('d'), whole);
});
