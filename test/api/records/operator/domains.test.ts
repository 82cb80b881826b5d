import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { RECURSION_AVAILABLE } from 'dns-packet';
import { ask } from '../../../support/http.ts';
import { answerTo, type Heard, lyingServer } from '../../../support/lying-server.ts';
import { probe } from '../../../support/probes.ts';
import { until } from '../../../support/program.ts';
import { type RecordsStand, recordsStand } from '../../../support/records-fixture.ts';
import { send } from '../../../support/send.ts';
import { ONLY_WIDE } from '../../../support/wide.ts';

function operatorOf({ url, keyOf }: RecordsStand) {
  const key = keyOf('operator');
  return async (path: string, body?: object, method = 'POST') => {
    const sent = { method, path, headers: { 'x-service-key': key } };
    const { status, text, headers } = await send(url, body === undefined ? sent : { ...sent, body });
    return { status, headers, text, json: () => JSON.parse(text) };
  };
}

test('hostnames are watched, each with its outcome; one invalid name rejects all', async (t) => {
  const stand = await recordsStand(t);
  const post = operatorOf(stand);
  const { records } = stand.app.store;
  const refused = await post('/v1/domains', { domains: ['ok.example.com', '0x7f.1', 'a..b.com', 'x'.repeat(64)] });
  assert.equal(refused.status, 400);
  const { field, problems } = refused.json();
  assert.equal(field, 'domains[1]');
  assert.deepEqual(
    problems.map((problem: { field: string }) => problem.field),
    ['domains[1]', 'domains[2]', 'domains[3]'],
  );
  assert.equal(records.counts().watched, 0, 'nothing was entered');

  await post('/v1/opt-out', { domain: 'gone.example.com', reason: 'Its owner asked' });
  const domains = ['Bücher.example.com', 'two.example.com', 'two.example.com', 'a.gone.example.com'];
  const { status, json } = await post('/v1/domains', { domains });
  assert.equal(status, 200);
  const rows = json().items.map(({ domain, outcome }: { domain: string; outcome: string }) => [domain, outcome]);
  assert.deepEqual(rows, [
    ['xn--bcher-kva.example.com', 'added'],
    ['two.example.com', 'added'],
    ['two.example.com', 'already'],
    ['a.gone.example.com', 'opted_out'],
  ]);
  const many = Array.from({ length: 350 }, (_, n) => `h${n}.example.net`);
  assert.equal((await post('/v1/domains', { domains: many })).json().total, 350);
  assert.equal(records.counts().watched, 352);
  assert.equal((await post('/v1/domains', { domains: Array(5_001).fill('a.test') })).status, 400);
  assert.equal((await post('/v1/domains', { domains: [] })).status, 400);

  const pause = () => post('/v1/domains/two.example.com', undefined, 'DELETE');
  assert.deepEqual((await pause()).json(), { domain: 'two.example.com', outcome: 'paused' });
  assert.deepEqual((await pause()).json(), { domain: 'two.example.com', outcome: 'already' });
  assert.equal((await post('/v1/domains', { domains: ['two.example.com'] })).json().items[0].outcome, 'resumed');
  assert.equal((await post('/v1/domains/none.example.com', undefined, 'DELETE')).status, 404);
});

test('an opt-out hides a name and everything below it immediately', async (t) => {
  const stand = await recordsStand(t);
  const post = operatorOf(stand);
  const reader = { 'x-service-key': stand.keyOf('service') };
  const names = ['owner.example.org', 'www.owner.example.org', 'other.example.org'];
  stand.enter(...names.map((name) => probe(name, stand.clock.now, { A: ['192.0.2.1'] })));
  assert.equal((await ask(stand.url, '/v1/domains/www.owner.example.org', reader)).status, 200);
  const { json } = await post('/v1/opt-out', { domain: 'owner.example.org', reason: 'Its owner asked' });
  assert.deepEqual(json(), { domain: 'owner.example.org', hidden: names.slice(0, 2) });
  for (const name of names.slice(0, 2)) {
    assert.equal((await ask(stand.url, `/v1/domains/${name}`, reader)).status, 404, name);
  }
  assert.equal((await ask(stand.url, '/v1/domains/other.example.org', reader)).status, 200);
  assert.deepEqual((await post('/v1/opt-out', { domain: 'owner.example.org', reason: 'Again' })).json().hidden, []);
  for (const body of [
    { domain: 'com', reason: 'x' },
    { domain: '*.example.org', reason: 'x' },
    { domain: 'other.example.org', reason: ' ' },
    { domain: 'other.example.org', reason: 'two\nlines' },
    { domain: 'other.example.org' },
  ]) {
    assert.equal((await post('/v1/opt-out', body)).status, 400, JSON.stringify(body));
  }
  assert.equal((await ask(stand.url, '/v1/domains/other.example.org', reader)).status, 200);
});

test('operators’ routes accept operators only', async (t) => {
  const stand = await recordsStand(t);
  const doors = [
    ['POST', '/v1/domains'],
    ['DELETE', '/v1/domains/a.example.com'],
    ['POST', '/v1/opt-out'],
    ['POST', '/v1/enrich-batch'],
  ] as const;
  for (const [method, path] of doors) {
    assert.equal((await send(stand.url, { method, path })).status, 401, path);
    for (const level of ['account', 'service', 'scanner'] as const) {
      const headers = { 'x-service-key': stand.keyOf(level), 'x-payment': 'e30=' };
      assert.equal((await send(stand.url, { method, path, headers, body: {} })).status, 403, `${path} with ${level}`);
    }
  }
});

/** Says 192.0.2.7 to every question for addresses, and that there is nothing else. */
function addresses(heard: Heard) {
  const { name = '', type } = heard.query.questions?.[0] ?? {};
  const answers = type === 'A' && !name.startsWith('www.') ? [{ name, type, ttl: 60, data: '192.0.2.7' } as const] : [];
  return [answerTo(heard, { answers, flags: RECURSION_AVAILABLE })];
}

test('a batch is probed immediately and streamed line by line', async (t) => {
  const server = await lyingServer(t, addresses);
  const stand = await recordsStand(t, { RESOLVERS: `127.0.0.1:${server.port}` });
  const post = operatorOf(stand);
  await post('/v1/domains', { domains: ['a.example.com', 'b.example.com', 'paused.example.com'] });
  await post('/v1/domains/paused.example.com', undefined, 'DELETE');
  await post('/v1/opt-out', { domain: 'gone.example.com', reason: 'Its owner asked' });
  const domains = [
    'a.example.com',
    'B.example.com',
    'a.example.com',
    '0x7f.1',
    'paused.example.com',
    'x.gone.example.com',
    'n.example.com',
  ];
  const { status, headers, text } = await post('/v1/enrich-batch', { domains });
  assert.equal(status, 200);
  assert.equal(headers['content-type'], 'application/x-ndjson');
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const errors = lines.filter(({ error }) => error).map(({ domain, error }) => [domain, error]);
  assert.deepEqual(errors.sort(), [
    ['0x7f.1', 'invalid_request'],
    ['n.example.com', 'not_watched'],
    ['paused.example.com', 'not_watched'],
    ['x.gone.example.com', 'not_found'],
  ]);
  const records = lines.filter(({ error }) => error === undefined);
  assert.deepEqual(records.map(({ domain }) => domain).sort(), ['a.example.com', 'b.example.com']);
  for (const { signed, signals, receipt, domain } of records) {
    assert.equal(signed, true);
    assert.deepEqual(signals.A.values, ['192.0.2.7']);
    assert.match(receipt, new RegExp(`domain ${domain}`));
  }
  assert.equal(stand.app.store.records.observationTotals().count, 2);
});

test('a client that hangs up stops a batch, and its leases are released', { skip: ONLY_WIDE }, async (t) => {
  // The names of one zone are answered, the others never.
  const server = await lyingServer(t, (heard) =>
    heard.query.questions?.[0]?.name.toLowerCase().endsWith('quick.example.com') ? addresses(heard) : [],
  );
  const stand = await recordsStand(t, { RESOLVERS: `127.0.0.1:${server.port}` });
  const post = operatorOf(stand);
  const slow = Array.from({ length: 40 }, (_, n) => `h${n}.slow.example.com`);
  const domains = ['quick.example.com', ...slow];
  await post('/v1/domains', { domains });
  const { records } = stand.app.store;
  const { port, hostname } = new URL(stand.url);
  await new Promise<void>((resolve, reject) => {
    const headers = { 'x-service-key': stand.keyOf('operator'), 'content-type': 'application/json' };
    const out = request({ hostname, port, path: '/v1/enrich-batch', method: 'POST', headers }, (response) => {
      response.once('data', (chunk: Buffer) => {
        assert.equal(JSON.parse(chunk.toString()).domain, 'quick.example.com');
        out.destroy();
        resolve();
      });
    });
    out.on('error', reject);
    out.end(JSON.stringify({ domains }));
  });
  await until(() => (records.stats(stand.clock.now).leased === 0 ? true : null));
  assert.equal(records.observationTotals().count, 1);
  assert.equal(records.stats(stand.clock.now).due, 40);
});
