import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseHostname } from '../../../../src/records/hostname.ts';
import { probe } from '../../../support/probes.ts';
import { type RecordsStand, recordsStand } from '../../../support/records-fixture.ts';
import { send } from '../../../support/send.ts';

interface Said {
  status: number;
  body: Record<string, never> & { [name: string]: unknown };
}

function scannerOf({ url }: RecordsStand, key: string) {
  return async (method: string, path: string, body?: object | string, headers = {}): Promise<Said> => {
    const sent = { method, path: `/v1/queue/${path}`, headers: { 'x-service-key': key, ...headers } };
    const { status, text } = await send(url, body === undefined ? sent : { ...sent, body });
    return { status, body: JSON.parse(text) as Said['body'] };
  };
}

function watch({ app, clock }: RecordsStand, ...names: string[]): void {
  app.store.records.watch(names.map(parseHostname), clock.now);
}

test('a scanner leases due hostnames, submits probes, and gets each outcome', async (t) => {
  const stand = await recordsStand(t);
  const ask = scannerOf(stand, stand.keyOf('scanner'));
  watch(stand, 'a.test', 'b.test', 'c.test', 'd.test');
  const leased = await ask('POST', 'lease', { max: 3 });
  assert.equal(leased.status, 200);
  const { lease, until, hostnames } = leased.body as unknown as { lease: string; until: string; hostnames: string[] };
  assert.equal(hostnames.length, 3);
  assert.ok(Date.parse(until) > stand.clock.now);
  const stats = await ask('GET', 'stats');
  assert.deepEqual(stats.body, {
    watched: 4,
    due: 1,
    leased: 3,
    next_due_at: new Date(stand.clock.now).toISOString(),
    last_scan_at: null,
  });

  const [first = '', second = ''] = hostnames;
  const good = probe(first, stand.clock.now, { A: ['192.0.2.1'] });
  const bad = { ...probe(second, stand.clock.now, {}), certificate_status: 'ok' };
  const stranger = probe('stranger.test', stand.clock.now, {});
  const handed = await ask('POST', `${lease}/results`, { looks: [good, bad, stranger] });
  const results = handed.body.results as unknown as Record<string, unknown>[];
  assert.deepEqual(results[0], { domain: first, outcome: 'recorded', seq: 1, changes: [] });
  assert.equal(results[1]?.outcome, 'refused');
  assert.match(String(results[1]?.message), /certificate/);
  assert.deepEqual(results[2], { domain: 'stranger.test', outcome: 'lost' });
  const again = await ask('POST', `${lease}/results`, { looks: [good] });
  assert.deepEqual(again.body.results, [{ domain: first, outcome: 'lost' }]);

  assert.deepEqual((await ask('DELETE', lease)).body, { given_back: 2 });
  assert.deepEqual((await ask('DELETE', lease)).body, { given_back: 0 });
  assert.equal(stand.app.store.records.observationTotals().count, 1);
  const rest = await ask('POST', 'lease', { max: 500 });
  assert.equal((rest.body.hostnames as unknown as string[]).length, 3);
  const none = await ask('POST', 'lease', { max: 500 });
  assert.deepEqual(none.body.hostnames, []);
});

test('a lease is its key’s alone', async (t) => {
  const stand = await recordsStand(t);
  watch(stand, 'a.test');
  const mine = scannerOf(stand, stand.keyOf('scanner'));
  const other = scannerOf(stand, stand.keyOf('scanner'));
  const lease = String((await mine('POST', 'lease', { max: 1 })).body.lease);
  const looks = [probe('a.test', stand.clock.now, { A: ['192.0.2.66'] })];
  assert.equal((await other('POST', `${lease}/results`, { looks })).status, 404);
  assert.equal((await other('DELETE', lease)).status, 404);
  assert.equal(stand.app.store.records.observationTotals().count, 0);
  const { body } = await mine('POST', `${lease}/results`, { looks });
  assert.equal((body.results as unknown as { outcome: string }[])[0]?.outcome, 'recorded');
});

test('the queue accepts scanners and operators only', async (t) => {
  const stand = await recordsStand(t);
  const doors = [
    ['POST', 'lease'],
    ['GET', 'stats'],
    ['POST', 'x/results'],
    ['DELETE', 'x'],
  ] as const;
  for (const [method, path] of doors) {
    const { status } = await send(stand.url, { method, path: `/v1/queue/${path}` });
    assert.equal(status, 401, `${method} ${path} without a key`);
    for (const level of ['account', 'service'] as const) {
      const said = await scannerOf(stand, stand.keyOf(level))(method, path);
      assert.deepEqual([said.status, said.body.error], [403, 'level_too_low'], `${method} ${path} with ${level}`);
    }
  }
  assert.equal((await scannerOf(stand, stand.keyOf('operator'))('GET', 'stats')).status, 200);
});

test('malformed probes are rejected with a message, and nothing is recorded', async (t) => {
  const stand = await recordsStand(t);
  const ask = scannerOf(stand, stand.keyOf('scanner'));
  watch(stand, 'a.test');
  for (const body of [{}, { max: 0 }, { max: 501 }, { max: '5' }, '{', '[]', 'null']) {
    const json = typeof body === 'string' ? { 'content-type': 'application/json' } : {};
    const said = await ask('POST', 'lease', body, json);
    assert.equal(said.status, 400, JSON.stringify(body));
  }
  assert.equal((await ask('POST', 'lease', 'max=5', { 'content-type': 'text/plain' })).status, 415);
  const lease = String((await ask('POST', 'lease', { max: 1 })).body.lease);
  const results = (body: object | string, headers = {}) => ask('POST', `${lease}/results`, body, headers);
  assert.equal((await results({ looks: Array(501).fill({ hostname: 'a.test' }) })).status, 400);
  assert.equal((await results({ looks: [{ hostname: 7 }] })).status, 400);
  assert.equal((await results(`{"looks":[${'['.repeat(100)}`, { 'content-type': 'application/json' })).status, 400);
  assert.equal((await results({ looks: [probe('a.test', 0, { A: ['\ud800'] })] })).status, 400);
  const large = { looks: [{ ...probe('a.test', 0, {}), more: 'x'.repeat(9 * 1024 * 1024) }] };
  assert.equal((await results(large)).status, 413);
  const odd = [
    { hostname: 'a.test' },
    { ...probe('a.test', 0, {}), at: -1 },
    { ...probe('a.test', 0, {}), certificate: 'none' },
    { ...probe('a.test', 0, { A: ['x'.repeat(300_000)] }) },
  ];
  const said = await results({ looks: odd });
  assert.equal(said.status, 200);
  const outcomes = (said.body.results as unknown as { outcome: string }[]).map(({ outcome }) => outcome);
  assert.deepEqual([...new Set(outcomes)], ['refused']);
  assert.equal(stand.app.store.records.observationTotals().count, 0);
});
