import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawTree } from '../../src/parts/log-tree.ts';
import { parsePolicy } from '../../src/proof/log/policy.ts';
import { type LogViewContext, logView, logViewState, quorumInWords } from '../../src/shared/transparency/log-view.ts';
import { appContextIn, createPaper, tempFolder } from '../support/app-context.ts';
import { ed25519Witness } from '../support/log.ts';
import { LogHeads } from '../support/log-heads.ts';
import { publish, withdraw } from '../support/newsroom.ts';

const NOON = Date.parse('2026-11-20T12:00:00Z');
const NOBODY: LogViewContext = {
  log: 'desk',
  url_absolute: 'https://a.example/log/',
  policy: null,
  pieceOf: () => null,
};

test('a quorum in words', () => {
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(
    (name, at) => `witness ${name} ${ed25519Witness(`${name}.example`, at + 1).vkey}\n`,
  );
  const words = (text: string) => quorumInWords(parsePolicy(text));
  assert.equal(words('quorum none\n'), 'no witness is required');
  assert.equal(words(`${a}quorum a\n`), 'a');
  assert.equal(words(`${a}${b}${c}group two 2 a b c\nquorum two\n`), '2 of a, b, and c');
  assert.equal(words(`${a}${b}group both all a b\nquorum both\n`), 'a and b');
  assert.equal(
    words(`${a}${b}${c}${d}group us any a b\ngroup them all c d\ngroup each all us them\nquorum each\n`),
    '(1 of a and b) and (c and d)',
  );
});

test('a log shows its head and its public content, and nothing of a private paper', (t) => {
  const app = appContextIn(t, tempFolder(t), { now: NOON });
  const tables = app.store.database.log;
  assert.deepEqual(logView(tables, NOBODY).leaves, []);
  createPaper(app, { paper_public: false });
  publish(app, 'hidden');
  withdraw(app, 'hidden');
  const heads = new LogHeads(tables, 'desk');
  assert.equal(logView(tables, NOBODY).head, null, 'no leaf counts before a head covers it');
  const head = heads.sign();
  const view = logView(tables, NOBODY);
  assert.deepEqual([view.head?.size, view.head?.origin, view.cosigned], [head.size, heads.origin, null]);
  assert.deepEqual(
    view.leaves.map(({ kind }) => kind),
    ['key'],
  );
  assert.doesNotMatch(JSON.stringify(view), /hidden|harbor/);
  assert.equal(view.window.hashes, head.size - 1);
});

test('the state of a log changes with its head, its quorum, its witnesses and its fence', (t) => {
  const app = appContextIn(t, tempFolder(t), { now: NOON });
  const tables = app.store.database.log;
  const heads = new LogHeads(tables, 'desk');
  const { policy } = heads;
  const states = new Set<string>();
  const note = () => states.add(logViewState(tables, { log: 'desk', policy }));
  note();
  createPaper(app);
  const head = heads.sign();
  note();
  heads.cosign(head);
  note();
  const { vkey } = heads.witness;
  const seen = { ...tables.witness('desk', heads.origin, vkey), seen_size: head.size };
  tables.setWitness('desk', heads.origin, { ...seen, cosigned_size: head.size, cosigned_at: NOON });
  note();
  tables.setFence('desk', 'this copy is old');
  note();
  assert.equal(states.size, 5);
  const { cosigned, is_fenced, policy: shown } = logView(tables, { ...NOBODY, policy });
  assert.deepEqual([cosigned?.size, is_fenced], [head.size, true]);
  assert.deepEqual(shown?.witnesses[0]?.last, { size: head.size, at: '2026-11-20T12:00:00.000Z' });
});

test('the growth of a log is sampled evenly in time, however many heads there are', (t) => {
  const app = appContextIn(t, tempFolder(t), { now: NOON });
  const tables = app.store.database.log;
  assert.deepEqual(logView(tables, NOBODY).growth, []);
  // A hundred days, the last of which had as many heads as all others.
  const times = [
    ...Array.from({ length: 100 }, (_, day) => NOON + day * 86_400_000),
    ...Array.from({ length: 100 }, (_, second) => NOON + 99 * 86_400_000 + second * 1_000),
  ];
  for (const [at, signed_at] of times.entries()) {
    const checkpoint = `a.example/log\n${at + 1}\n${Buffer.alloc(32).toString('base64')}\n\n— a.example/log ${Buffer.alloc(68).toString('base64')}\n`;
    tables.addHead('desk', { origin: 'a.example/log', size: at + 1, signed_at, checkpoint });
  }
  let asked = 0;
  const counted: typeof tables = {
    ...tables,
    headAt(...of) {
      asked++;
      return tables.headAt(...of);
    },
  };
  const { growth } = logView(counted, NOBODY);
  assert.ok(growth.length <= 49 && growth.length >= 40, String(growth.length));
  assert.ok(asked <= 1 + 49 * 8, `${asked} heads were read`);
  assert.deepEqual([growth[0]?.size, growth.at(-1)?.size], [1, 200]);
  const days = growth.map(({ signed_at }) => (Date.parse(signed_at) - NOON) / 86_400_000);
  for (const [at, day] of days.entries()) assert.ok(at === 0 || day - (days[at - 1] ?? 0) <= 3.1, `${days}`);
});

test('a tree is drawn as the perfect trees that its size is made of, joined to one root', () => {
  for (const size of [1, 2, 3, 7, 8, 1_377, 2 ** 20, 2 ** 31 + 5]) {
    const { peaks, nodes, edges, width, top, bottom } = drawTree(size);
    assert.equal(
      peaks.reduce((sum, { leaves }) => sum + leaves, 0),
      size,
    );
    assert.equal(nodes.filter(({ what }) => what === 'root').length, 1, String(size));
    assert.equal(nodes.filter(({ what }) => what === 'leaf').length, 1, String(size));
    assert.ok(edges.length <= peaks.length * 32, 'bounded, whatever the size');
    for (const { x, y } of nodes) assert.ok(x >= 0 && x <= width && y >= top && y <= bottom, `${size}: ${x} ${y}`);
  }
});
