import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { verifyNoble, verifyNode } from '../../../../src/proof/ed25519.ts';
import { parseHostname } from '../../../../src/records/hostname.ts';
import { listenTo } from '../../../support/events.ts';
import { ask } from '../../../support/http.ts';
import { certificate, probe } from '../../../support/probes.ts';
import { evidenceFaults } from '../../../support/records-faults.ts';
import { recordsStand } from '../../../support/records-fixture.ts';

const MINUTE = 60_000;

test('a bundle of evidence, however long, is checked offline against itself and the published keys', async (t) => {
  const { url, enter, clock, keyOf, app } = await recordsStand(t);
  const key = { 'x-service-key': keyOf('account') };
  const at = clock.now;
  // More than are read at once, with those of another domain between them.
  for (let n = 0; n < 45; n++) {
    enter(probe('example.org', at + n * MINUTE, { A: [`192.0.2.${n}`] }, certificate('a')));
    if (n % 3 === 0) enter(probe('other.example', at + n * MINUTE, { A: ['192.0.2.1'] }));
  }
  const { text, headers } = await ask(url, '/v1/exports/domains/example.org/evidence.json', key);
  assert.match(String(headers['content-disposition']), /^attachment; filename="example\.org\.evidence\.json"$/);
  const bundle = JSON.parse(text);
  assert.equal(bundle.records.length, 45);
  for (const verify of [verifyNode, verifyNoble]) assert.deepEqual(evidenceFaults(bundle, verify), []);
  assert.deepEqual(evidenceFaults(bundle, verifyNode, app.store.desk.verifyingKeys('records')), []);
  bundle.records.splice(20, 1);
  assert.notDeepEqual(evidenceFaults(bundle, verifyNode), [], 'none can be left out');

  const csv = (await ask(url, '/v1/exports/domains/example.org.csv', key)).text;
  assert.equal(csv.split('\r\n').length - 2, 45 * 19);
});

test('an export of changes contains those of its span, each once, in order', async (t) => {
  const { url, enter, clock, keyOf } = await recordsStand(t);
  const key = { 'x-service-key': keyOf('account') };
  const at = clock.now;
  // More than are read at once.
  for (let n = 0; n < 42; n++) {
    const many = Object.fromEntries(['A', 'MX', 'TXT', 'NS'].map((type) => [type, [`${type} ${n}`]]));
    for (const host of ['one.example', 'two.example', 'three.example']) enter(probe(host, at + n * MINUTE, many));
  }
  const numbers = async (query: string) => {
    const { text } = await ask(url, `/v1/exports/changes.csv${query}`, key);
    const [head, ...rows] = text.split('\r\n').slice(0, -1);
    assert.equal(head, 'seq,at,domain,signal,kind,before,after,observation_seq,rotation');
    return rows.map((row) => Number(row.split(',')[0]));
  };
  const all = await numbers('');
  assert.deepEqual(
    all,
    Array.from({ length: 41 * 12 }, (_, index) => index + 1),
  );
  const time = (n: number) => new Date(at + n * MINUTE).toISOString();
  assert.deepEqual(await numbers(`?since=${time(2)}&until=${time(3)}`), all.slice(12, 36));
  assert.deepEqual(await numbers('?until=2001-01-01'), []);
  assert.equal((await ask(url, '/v1/exports/changes.csv?since=never', key)).status, 400);
});

test('turns of a pool are in raw lists, and changes of its set in all others', async (t) => {
  const { url, enter, clock, keyOf } = await recordsStand(t);
  const key = { 'x-service-key': keyOf('account') };
  const at = clock.now;
  const pool = ['10.1.0.1', '10.2.0.1', '10.3.0.1'];
  for (let n = 0; n < 20; n++) enter(probe('pool.example', at + n * MINUTE, { A: [pool[n % 3] ?? ''] }));
  enter(probe('pool.example', at + 20 * MINUTE, { A: ['198.51.100.6'] }));
  const rows = async (path: string) => JSON.parse((await ask(url, path, key)).text);
  const shown = await rows('/v1/changes?order=oldest');
  assert.equal(shown.total, 6);
  assert.partialDeepStrictEqual(shown.items.slice(3), [
    { seq: 4, before: ['10.1.0.1'], after: ['10.2.0.1'] },
    { seq: 6, kind: 'changed', before: ['10.2.0.1'], after: pool, rotation: 'set', observation_seq: 6 },
    { seq: 22, kind: 'changed', before: pool, after: [...pool, '198.51.100.6'], rotation: 'set', observation_seq: 21 },
  ]);
  const raw = await rows('/v1/changes?order=oldest&raw=1');
  assert.equal(raw.total, 20);
  assert.equal(raw.items.length, 20);
  assert.partialDeepStrictEqual(raw.items.slice(3, 5), [
    { seq: 4, before: ['10.1.0.1'], after: ['10.2.0.1'] },
    { seq: 5, before: ['10.2.0.1'], after: ['10.3.0.1'], rotation: 'answer' },
  ]);
  for (const path of ['/changes.json', '/changes/today', '/v1/tape', '/v1/changes?domain=pool.example&type=A']) {
    const list = await rows(path);
    assert.deepEqual([list.total, list.items.length], [6, 6], path);
  }
  const rss = (await ask(url, '/changes.rss')).text;
  assert.equal(rss.match(/<item>/g)?.length, 6);
  const csv = async (query: string) =>
    (await ask(url, `/v1/exports/changes.csv${query}`, key)).text.split('\r\n').length - 2;
  assert.deepEqual([await csv(''), await csv('?raw=1')], [6, 20]);
  for (const [query, count] of [
    ['', 6],
    ['&raw=1', 20],
  ] as const) {
    const reader = await listenTo(url, `/v1/stream?since_seq=0${query}`, key);
    assert.deepEqual(
      (await reader.atLeast(count)).map(({ data }) => JSON.parse(data)),
      query === '' ? shown.items : raw.items,
    );
    reader.hangUp();
  }
  // Listeners that are live get what they want of the same changes.
  const live = await listenTo(url, '/v1/stream', key);
  const liveRaw = await listenTo(url, '/v1/stream?raw=1', key);
  await live.atLeast(0);
  enter(probe('pool.example', clock.now + MINUTE, { A: [pool[0] ?? ''] }));
  enter(probe('pool.example', clock.now + MINUTE, { A: ['198.51.100.7'] }));
  assert.deepEqual(
    (await live.atLeast(1)).map(({ id }) => Number(id)),
    [25],
  );
  assert.deepEqual(
    (await liveRaw.atLeast(2)).map(({ id }) => Number(id)),
    [23, 24],
  );
  live.hangUp();
  liveRaw.hangUp();
});

test('a CSV list of any length is complete, and no cell is a formula', async (t) => {
  const { url, enter, clock, keyOf, app } = await recordsStand(t, { KEYED_DAILY: '10000' });
  const key = { authorization: `Bearer ${keyOf('account')}` };
  const FORMULAS = ['=cmd|calc', '+1', '-1', '@SUM(1)'];
  for (const [n, name] of FORMULAS.entries()) {
    const host = `host${n}.example`;
    enter(
      probe(
        host,
        clock.now,
        { NS: [`ns.dns${n}.example`], MX: [`10 mx.mail${n}.example`] },
        certificate('a', `O=${name}`),
      ),
    );
  }
  const { records } = app.store;
  // More than are read at once.
  const many = Array.from({ length: 1_201 }, (_, n) => parseHostname(`many-${n}.test`));
  records.watch(many, clock.now);
  const linesOf = async (file: string) => (await ask(url, `/v1/exports/${file}`, key)).text.split('\r\n').slice(1, -1);
  const catalog = (await linesOf('domains.csv')).map((line) => line.split(',')[0]);
  assert.equal(new Set(catalog).size, many.length + FORMULAS.length);
  assert.equal(catalog.length, new Set(catalog).size);
  assert.deepEqual(await linesOf('issuers.csv'), FORMULAS.map((name) => `'${name},1`).sort());
  for (const [list, name] of [
    ['mail-hosts', 'mail'],
    ['dns-hosts', 'dns'],
  ] as const) {
    const rows = await linesOf(`${list}.csv`);
    assert.deepEqual(
      rows,
      FORMULAS.map((_, n) => `${name}${n}.example,1`),
      list,
    );
    const { items } = JSON.parse((await ask(url, `/v1/${list}`, key)).text) as { items: object[] };
    assert.deepEqual(
      items.map((row) => Object.values(row).join(',')),
      rows,
      'the list says the same as its file',
    );
  }
  assert.equal((await ask(url, '/v1/exports/types.csv', key)).status, 404);
});

test('a domain that opts out while it is exported is shown no further', async (t) => {
  const { url, enter, clock, keyOf, app } = await recordsStand(t);
  const at = clock.now;
  const texts = (n: number) => Array.from({ length: 50 }, (_, line) => `${n} ${line} ${'x'.repeat(2_000)}`);
  for (let n = 0; n < 60; n++) enter(probe('example.org', at + n * MINUTE, { TXT: texts(n) }));
  const { hostname, port } = new URL(url);
  const headers = { 'x-service-key': keyOf('account') };
  const got = await new Promise<{ complete: boolean; text: string }>((resolve, reject) => {
    request({ hostname, port, path: '/v1/exports/domains/example.org/evidence.json', headers }, (response) => {
      let text = '';
      response.once('readable', () => {
        // By now some of it is under way, and most is not.
        app.store.records.optOut(parseHostname('example.org'), 'its owner asked', 'test', clock.now);
        response.on('data', (chunk: Buffer) => {
          text += chunk;
        });
      });
      response.on('error', () => {});
      response.on('close', () => resolve({ complete: response.complete, text }));
    })
      .on('error', reject)
      .end();
  });
  assert.equal(got.complete, false, 'it is broken off, so that nobody takes it for the whole');
  assert.throws(() => JSON.parse(got.text));
  assert.equal((await ask(url, '/v1/exports/domains/example.org/evidence.json', headers)).status, 404);
});
