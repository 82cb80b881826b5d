import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { before, test } from 'node:test';
import { checkLease } from '../../src/operate/doctor/desk.ts';
import { DAY } from '../../src/proof/time.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { runDumps } from '../../src/records/jobs/dump-run.ts';
import { localQueue } from '../../src/records/jobs/local-queue.ts';
import { scanOnce } from '../../src/records/jobs/scan.ts';
import { pauseOthers } from '../../src/records/nodes.ts';
import type { AppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { nodeOf, overlap, parseNodes, type RecordsNodes } from '../../src/shared/nodes.ts';
import { ALONE, signerStatus } from '../../src/signing/signer.ts';
import { appContextIn, fileScope, type Scope, tempFolder } from '../support/app-context.ts';
import { observeDays } from '../support/archive.ts';
import { namesByDay } from '../support/dumps.ts';
import { certificate, probe } from '../support/probes.ts';
import * as fc from '../support/properties.ts';
import { recordsStand } from '../support/records-fixture.ts';

/** The hashes of c.example and e.example begin with 3e and 27, that of b.example with e8. */
const TABLE = 'a=00-7f@https://a.records.example,b=80-ff@https://b.records.example/,old=gone';
const [OURS, THEIRS] = ['c.example', 'b.example'];
const NOW = Date.UTC(2026, 10, 21, 9);

test('a table of nodes gives each hash to one node', () => {
  const nodes = parseNodes(TABLE.split(','), 'b') as RecordsNodes;
  assert.deepEqual(nodes.gone, ['old']);
  assert.deepEqual(nodes.own, { name: 'b', range: '80-ff', url: 'https://b.records.example' });
  assert.equal(nodeOf(nodes, '7fff').name, 'a');
  assert.equal(nodeOf(nodes, '8000').name, 'b');
  const cuts = fc.uniqueArray(fc.integer({ min: 1, max: 255 }), { maxLength: 20 });
  fc.assert(
    fc.property(cuts, fc.integer({ min: 0, max: 255 }), (given, byte) => {
      const hex = (n: number) => n.toString(16).padStart(2, '0');
      const starts = [0, ...given].sort((x, y) => x - y);
      const entries = starts.map((from, n) => `n${n}=${hex(from)}-${hex((starts[n + 1] ?? 256) - 1)}@http://n${n}`);
      const table = parseNodes(entries.toReversed(), 'n0') as RecordsNodes;
      const index = starts.findLastIndex((from) => from <= byte);
      assert.equal(nodeOf(table, `${hex(byte)}ab`).name, `n${index}`);
      const owners = table.all.filter(({ range }) => overlap(range, `${hex(byte)}-${hex(byte)}`));
      assert.deepEqual(
        owners.map(({ name }) => name),
        [`n${index}`],
      );
    }),
  );
});

test('a table with a gap, an overlap, a name twice or another form is refused with its cure', () => {
  for (const [table, message] of [
    ['a=00-7f@https://a.example', /nobody has 80/],
    ['a=00-7f@https://a.example,b=7f-ff@https://b.example', /b=7f-ff does not begin at 80/],
    ['a=00-7f@https://a.example,b=90-ff@https://b.example', /b=90-ff does not begin at 80/],
    ['a=00-ff@https://a.example,a=gone', /must have a once/],
    ['a=7f-00@https://a.example', /a=7f-00 does not begin at 00/],
    ['A=00-ff@https://a.example', /such as a=00-7f@https:\/\/a\.example.*"A=00-ff@https:\/\/a\.example" is not/],
    ['a=00-ff@https://a.example/path', /is not/],
    ['a=0-f@https://a.example', /is not/],
    ['a=gone', /nobody has 00/],
  ] as const) {
    assert.throws(() => readSettings({ RECORDS_NODES: table, RECORDS_NODE: 'a' }), message, table);
  }
  assert.throws(() => readSettings({ RECORDS_NODES: TABLE, RECORDS_NODE: 'old' }), /which is gone/);
  assert.throws(() => readSettings({ RECORDS_NODES: TABLE, RECORDS_NODE: 'x' }), /which does not have it/);
  assert.throws(() => readSettings({ RECORDS_NODE: 'a' }), /must be unset without RECORDS_NODES/);
});

const scope = fileScope();
const nodeEnv = (t: Scope) => ({ RECORDS_NODES: TABLE, RECORDS_NODE: 'a', LEASE_URL: tempFolder(t) });
let stand: Awaited<ReturnType<typeof recordsStand>>;

before(async () => {
  stand = await recordsStand(scope, nodeEnv(scope), NOW);
  stand.enter(probe(OURS, NOW, { A: ['192.0.2.1'] }, certificate('a')));
});

test('reads about a name of another node are referred there, before a key or a limit counts', async () => {
  for (const path of [
    `/v1/domains/${THEIRS}`,
    `/v1/domains/WWW.B.Example/history?type=A`,
    `/v1/exports/domains/${THEIRS}.csv`,
    `/t/${THEIRS}?as_of=2026-11-20`,
    `/badge/${THEIRS}.svg`,
    `/v1/changes?domain=${THEIRS}`,
  ]) {
    const answer = await fetch(stand.url + path, { redirect: 'manual' });
    assert.equal(answer.status, 307, path);
    assert.equal(answer.headers.get('location'), `https://b.records.example${path}`);
    assert.equal(((await answer.json()) as { error: string }).error, 'other_node');
  }
  for (const path of [`/v1/domains/${OURS}`, `/badge/${OURS}.svg`]) {
    assert.equal((await fetch(stand.url + path, { redirect: 'manual' })).status, 200, path);
  }
  assert.equal((await fetch(`${stand.url}/badge/no_host.svg`, { redirect: 'manual' })).status, 400);
});

test('writes about a name of another node are refused with its address, and change nothing', async () => {
  const ask = async (method: string, path: string, key: string, body?: object) => {
    const headers = { 'x-service-key': key, 'content-type': 'application/json' };
    const answer = await fetch(stand.url + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  const operator = stand.keyOf('operator');
  const refused = {
    status: 421,
    error: 'other_node',
    node: 'https://b.records.example',
    message: `${THEIRS} belongs to node b of these records; send this to https://b.records.example`,
  };
  for (const [method, path, body] of [
    ['POST', '/v1/domains', { domains: ['e.example', THEIRS] }],
    ['DELETE', `/v1/domains/${THEIRS}`, undefined],
    ['POST', '/v1/opt-out', { domain: THEIRS, reason: 'asked' }],
  ] as const) {
    const answer = await ask(method, path, operator, body);
    const { error, node, message } = answer.body;
    assert.deepEqual({ status: answer.status, error, node, message }, refused, path);
  }
  assert.equal(stand.app.store.records.find('e.example'), null);
  const account = stand.keyOf('account');
  const added = await ask('POST', '/v1/account/watch', account, { hostnames: [OURS, THEIRS] });
  const outcomes = (added.body.items as { outcome: string; rule: string | null }[]).map((one) => [
    one.outcome,
    one.rule,
  ]);
  assert.deepEqual(outcomes, [
    ['added', null],
    ['refused', 'other_node'],
  ]);
  const owned = await ask('POST', '/v1/account/names', account, { hostname: THEIRS });
  assert.deepEqual([owned.status, owned.body.error, owned.body.field], [421, 'other_node', 'hostname']);
});

test('a scan of a name of another node is refused with its address', async () => {
  await assert.rejects(scanOnce(stand.app, [OURS, THEIRS]), /belongs to node b .* https:\/\/b\.records\.example/);
  await assert.rejects(scanOnce(stand.app, ['e.example']), /e\.example is not under watch/);
});

test('an expectation about a name of another node is refused with its address', async () => {
  const put = (names: object) =>
    fetch(`${stand.url}/v1/account/expectations`, {
      method: 'PUT',
      headers: { 'x-service-key': stand.keyOf('account'), 'content-type': 'application/json' },
      body: JSON.stringify({ names }),
    });
  const rule = { A: { values: ['192.0.2.1'] } };
  assert.equal((await put({ [OURS]: rule })).status, 200);
  const refused = await put({ [OURS]: rule, [THEIRS]: rule });
  assert.equal(refused.status, 400);
  assert.match(await refused.text(), /belongs to node b of these records; declare it at https:\/\/b\.records\.example/);
});

test('each node dumps its own names at its own place, and none the place of another', async (t) => {
  const [leases, shared] = [tempFolder(t), join(tempFolder(t), 'dumps')];
  const nodeAt = (node: string, name: string) => {
    const dumps = join(tempFolder(t), 'dumps');
    const clock = { now: NOW - 2 * DAY };
    const more = { RECORDS_NODES: TABLE, RECORDS_NODE: node, LEASE_URL: leases };
    const open = (place: string) => {
      const app = appContextIn(t, dirname(dumps), clock, { ...more, DUMPS_URL: place });
      app.signer.right = ALONE;
      return app;
    };
    const app = open(dumps);
    observeDays(app, clock, 2, [name]);
    clock.now = NOW;
    return { app, dumps, open };
  };
  const [a, b] = [nodeAt('a', OURS), nodeAt('b', THEIRS)];
  for (const { app } of [a, b]) assert.equal(await runDumps(app), true);
  assert.deepEqual(new Set(Object.values(await namesByDay(a.app, a.dumps)).flat()), new Set([OURS]));
  assert.deepEqual(new Set(Object.values(await namesByDay(b.app, b.dumps)).flat()), new Set([THEIRS]));
  assert.equal(await runDumps(a.open(shared)), true);
  await assert.rejects(runDumps(b.open(shared)), /has the dumps of a service that signs with .* each service and node/);
});

test('a tool of MCP says where the name is', async () => {
  const body = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'get_domain', arguments: { domain: THEIRS } },
  };
  const answer = await fetch(`${stand.url}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify(body),
  });
  assert.match(await answer.text(), /send this to https:\/\/b\.records\.example/);
});

test('nothing is signed for a name of another node, whoever put it under watch', async () => {
  const { app, clock } = stand;
  app.store.records.watch([parseHostname(THEIRS)], clock.now);
  const queue = localQueue(app, 'test');
  const lease = queue.leaseNames([THEIRS]);
  assert.ok(lease);
  const before = app.store.records.nextSeq();
  const [outcome] = await queue.submit(lease.lease, [probe(THEIRS, clock.now, { A: ['192.0.2.9'] }, certificate('b'))]);
  assert.equal(outcome?.outcome, 'refused');
  assert.match(outcome?.outcome === 'refused' ? outcome.message : '', /belongs to node b/);
  assert.equal(app.store.records.nextSeq(), before);
});

test('names that went to another node are paused once', async (t) => {
  const [folder, leases] = [tempFolder(t), tempFolder(t)];
  const open = (table: string): AppContext => {
    const more = { RECORDS_NODES: table, RECORDS_NODE: 'a', LEASE_URL: leases };
    const app = appContextIn(t, folder, { now: NOW }, more);
    app.signer.right = ALONE;
    app.signer.open();
    return app;
  };
  const all = open('a=00-ff@https://a.example');
  all.store.records.watch([OURS, THEIRS].map(parseHostname), NOW);
  await pauseOthers(all);
  assert.deepEqual(all.store.records.node.newest(), { name: 'a', range: '00-ff', is_settled: 1 });
  all.close();
  const half = open('a=00-7f@https://a.example,b=80-ff@https://b.example');
  assert.equal(half.store.records.node.newest()?.is_settled, 0);
  await pauseOthers(half);
  const states = [OURS, THEIRS].map((name) => half.store.records.find(name)?.state);
  assert.deepEqual(states, ['watched', 'paused']);
  assert.equal(half.store.records.node.newest()?.is_settled, 1);
});

test('a node whose names another took is told so, not that its lease is free', async (t) => {
  const leases = tempFolder(t);
  mkdirSync(join(leases, 'signers'));
  const ceded = { to: 'd', at: '2026-11-20T09:00:00.000Z' };
  const record = {
    broadsheet: 1,
    desk: 'x',
    holder: null,
    beat: 9,
    range: null,
    ceded,
    heads: { desk: null, records: null },
  };
  writeFileSync(join(leases, 'signers/a.json'), JSON.stringify(record));
  const app = appContextIn(t, tempFolder(t), { now: NOW }, { ...nodeEnv(t), LEASE_URL: leases });
  const took = /node d took the names of this node on 2026-11-20T09:00:00\.000Z/;
  assert.match((await signerStatus(app))?.reason ?? '', took);
  const found = await checkLease(app.settings, app);
  assert.equal(found.state, 'fault');
  assert.match(found.found, took);
});

test('a database signs for one node, and a node only with a lease', (t) => {
  const [folder, leases] = [tempFolder(t), tempFolder(t)];
  const open = (more: Record<string, string>) =>
    Object.assign(appContextIn(t, folder, { now: NOW }, more).signer, { right: ALONE });
  assert.throws(() => open({ RECORDS_NODES: TABLE, RECORDS_NODE: 'a' }).open(), /LEASE_URL is not/);
  open({ RECORDS_NODES: TABLE, RECORDS_NODE: 'a', LEASE_URL: leases }).open();
  const other = open({ RECORDS_NODES: TABLE, RECORDS_NODE: 'b', LEASE_URL: leases });
  assert.throws(() => other.open(), /this database is of node a, and RECORDS_NODE is b; set it to a/);
  assert.throws(() => open({}).open(), /this database is of node a, and RECORDS_NODE is not set/);
});
