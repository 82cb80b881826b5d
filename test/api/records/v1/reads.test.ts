import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSpan } from '../../../../src/proof/time.ts';
import { parseHostname } from '../../../../src/records/hostname.ts';
import { ask } from '../../../support/http.ts';
import { certificate, probe } from '../../../support/probes.ts';
import { recordsStand } from '../../../support/records-fixture.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

test('every list pages to its end by cursor: no repeats, no gaps, and the announced total', async (t) => {
  const { url, enter, clock, keyOf } = await recordsStand(t);
  const key = { 'x-service-key': keyOf('service') };
  const at = clock.now;
  const long = (n: number) => `${'x'.repeat(5_000)}${n}`;
  for (let n = 0; n < 9; n++) {
    enter(probe('example.org', at + n * MINUTE, { A: [`192.0.2.${n}`], TXT: [long(n), `short ${n}`] }));
    const issuer = `CN=R11, O=${n % 2 === 0 ? `Issuer ${n}` : 'y'.repeat(900) + n}, C=US`;
    enter(
      probe(
        `host${n}.example`,
        at + n * MINUTE,
        { MX: [`10 mail.mx${n}.example`, '20 mail.google.com'], NS: [`ns.dns${n % 4}.example`] },
        certificate('a', issuer),
      ),
    );
  }
  for (const path of [
    '/v1/domains?',
    '/v1/domains?q=host&',
    '/v1/changes?',
    '/v1/changes?order=oldest&type=txt&',
    '/v1/changes?domain=example.org&',
    '/v1/domains/example.org/provenance?',
    '/v1/domains/example.org/history?',
    '/v1/domains/example.org/history?type=TXT&',
    '/v1/domains/example.org/series?type=A&',
    '/v1/services?',
    '/v1/issuers?',
    '/v1/mail-hosts?',
    '/v1/dns-hosts?',
  ]) {
    const whole = JSON.parse((await ask(url, `${path}limit=1000`, key)).text);
    assert.equal(whole.items.length, whole.total, path);
    assert.ok(whole.total > 0, path);
    for (const limit of [1, 4]) {
      const items: unknown[] = [];
      let next: string | undefined = `${path}limit=${limit}`;
      while (next !== undefined) {
        const { text, headers, status } = await ask(url, next, key);
        assert.equal(status, 200, text);
        const page = JSON.parse(text);
        assert.equal(page.total, whole.total, path);
        items.push(...page.items);
        const [, link] = /^<https?:\/\/[^/]+([^>]+)>; rel="next"$/.exec(String(headers.link ?? '')) ?? [];
        assert.equal(link === undefined, page.next_cursor === null, path);
        next = link;
      }
      assert.deepEqual(items, whole.items, `${path} by ${limit}`);
    }
  }
});

test('an opt-out hides a name, and everything below it, in every read immediately', async (t) => {
  const { url, enter, clock, keyOf, app } = await recordsStand(t);
  const key = { 'x-service-key': keyOf('account') };
  const at = clock.now;
  for (const host of ['secret.example', 'www.secret.example', 'open.example']) {
    enter(probe(host, at, { A: ['192.0.2.1'] }), probe(host, at + MINUTE, { A: ['192.0.2.2'] }, certificate('a')));
  }
  const lists = [
    '/v1/domains?limit=10',
    '/v1/domains?q=secret',
    '/v1/changes?limit=100',
    '/v1/search?q=secret',
    '/v1/search?q=192.0.2.2',
    '/v1/exports/changes.csv?x=1',
    '/v1/tape',
  ];
  for (const path of lists) assert.match((await ask(url, path, key)).text, /secret/, path);
  app.store.records.optOut(parseHostname('secret.example'), 'its owner asked', 'test', clock.now);
  for (const path of lists) {
    // What was searched for is said again; nothing is told of it.
    const { text } = await ask(url, path, key);
    assert.doesNotMatch(text.replace('"q":"secret"', ''), /secret/, path);
  }
  for (const name of ['secret.example', 'www.secret.example', 'never.seen.secret.example']) {
    for (const path of ['', '/provenance', '/history', '/series', '?as_of=2026-11-21']) {
      const { status, text } = await ask(url, `/v1/domains/${name}${path}`, key);
      assert.equal(status, 404, text);
      assert.equal(JSON.parse(text).error, 'not_found');
    }
    for (const path of [`changes?domain=${name}`, `stream?domain=${name}`, `exports/domains/${name}.csv`]) {
      assert.equal((await ask(url, `/v1/${path}`, key)).status, 404, path);
    }
  }
  const { total } = JSON.parse((await ask(url, '/v1/changes', key)).text);
  assert.equal(total, JSON.parse((await ask(url, '/v1/changes?domain=open.example', key)).text).total);
});

test('a record is read as of a time, to the millisecond, and a day includes all of it', async (t) => {
  const { url, enter, clock, keyOf } = await recordsStand(t);
  const key = { 'x-service-key': keyOf('service') };
  const at = Date.UTC(2026, 10, 22);
  enter(probe('example.org', at - 1, { A: ['192.0.2.1'] }), probe('example.org', at, { A: ['192.0.2.2'] }));
  assert.ok(clock.now >= at);
  const seqAt = async (as_of: string) =>
    JSON.parse((await ask(url, `/v1/domains/example.org?as_of=${as_of}`, key)).text).seq as number | undefined;
  assert.equal(await seqAt('2026-11-21'), 1);
  assert.equal(await seqAt('2026-11-21T23:59:59.999Z'), 1);
  assert.equal(await seqAt('2026-11-21T23:59:59.998Z'), undefined);
  assert.equal(await seqAt('2026-11-22T00:00:00Z'), 2);
  assert.equal(await seqAt('2026-11-22T00:59:59.999%2B01:00'), 1);
  assert.equal(await seqAt('2026-11-22'), 2);
  const { status, text } = await ask(url, '/v1/domains/example.org?as_of=9999-12-31', key);
  assert.deepEqual([status, JSON.parse(text).field], [400, 'as_of'], 'a day that has not begun');
});

test('a span is a day of the calendar or a millisecond', () => {
  const day = Date.UTC(2026, 10, 20);
  assert.deepEqual(parseSpan('2026-11-20'), { from: day, until: day + DAY });
  assert.deepEqual(parseSpan('2026-11-20T00:00:00.001Z'), { from: day + 1, until: day + 2 });
  assert.deepEqual(parseSpan('2024-02-29')?.until, Date.UTC(2024, 2, 1));
  for (const text of [
    '',
    '2026-02-30',
    '2026-11-20T24:00:00Z',
    '2026-11-20T25:00:00Z',
    '2026-11-20T09:00:00',
    '20261120',
  ]) {
    assert.equal(parseSpan(text), null, text);
  }
  for (const text of ['+012026-01-01', '2026-1-1', '2026-11-20Z', ' 2026-11-20', '2026-11-20T09:00+01']) {
    assert.equal(parseSpan(text), null, text);
  }
});

test('a search pages through one kind, and a cursor is valid only for its kind', async (t) => {
  const { url, enter, clock, keyOf, app } = await recordsStand(t);
  const key = { 'x-service-key': keyOf('service') };
  const hosts = Array.from({ length: 12 }, (_, n) => `h${n}.example`);
  enter(
    ...hosts.map((host, n) =>
      probe(host, clock.now, {
        MX: ['10 mx1.google.com', `20 mx.mail${n}.example`],
        NS: [`ns.mail${n}.example`],
        TXT: [`v=spf1 include:_spf.google.com include:${'long'.repeat(20)}.example -all`],
      }),
    ),
  );
  while (app.store.records.indexValues());
  const pages = async (kind: string, q: string, limit: number) => {
    const items: Record<string, unknown>[] = [];
    let next: string | undefined = `/v1/search?q=${q}&kind=${kind}&limit=${limit}`;
    while (next !== undefined) {
      const { text, headers, status } = await ask(url, next, key);
      assert.equal(status, 200, text);
      items.push(...JSON.parse(text).items);
      [, next] = /^<https?:\/\/[^/]+([^>]+)>; rel="next"$/.exec(String(headers.link ?? '')) ?? [];
    }
    return items;
  };
  for (const [kind, q, count] of [
    ['domain', 'h', 12],
    ['value', 'google.com', 24],
    ['value', 'v=spf1', 12],
    ['value', 'mail', 24],
    ['mailhost', 'mail', 12],
    ['mailhost', 'mx1.google.com', 1],
    ['nameserver', 'mail1', 3],
    ['service', 'google', 1],
    ['issuer', 'google', 0],
  ] as const) {
    const whole = await pages(kind, q, 200);
    assert.equal(whole.length, count, `${kind} ${q}`);
    for (const limit of [1, 5, 12]) assert.deepEqual(await pages(kind, q, limit), whole, `${kind} ${q} by ${limit}`);
  }
  const { items, next_cursor } = JSON.parse((await ask(url, '/v1/search?q=google.com&kind=value&limit=2', key)).text);
  assert.deepEqual([items[0].kind, items[0].domain, items[0].value], ['value', 'h0.example', '10 mx1.google.com']);
  for (const wrong of ['q=google.com', 'q=google.com&kind=service', 'q=google.com&kind=domain']) {
    const { status, text } = await ask(url, `/v1/search?${wrong}&cursor=${next_cursor}`, key);
    assert.deepEqual([status, JSON.parse(text).field], [400, 'cursor'], wrong);
  }
  const { status, text } = await ask(url, '/v1/search?q=google&kind=values', key);
  assert.equal(status, 400);
  assert.match(text, /kind.*must be one of domain, value, service/);
});
