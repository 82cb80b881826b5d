import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { verifyNode } from '../../../../src/proof/ed25519.ts';
import type { Preview } from '../../../../src/proof/records/preview.ts';
import { parseHostname } from '../../../../src/records/hostname.ts';
import { openAppContext } from '../../../../src/server/context.ts';
import { newId } from '../../../../src/shared/new-id.ts';
import { beginSession } from '../../../../src/shared/session.ts';
import { correctClock } from '../../../../src/signing/clock/correct-clock.ts';
import { ask } from '../../../support/http.ts';
import { certificate, probe } from '../../../support/probes.ts';
import { answerFaults } from '../../../support/records-faults.ts';
import { type RecordsStand, recordProbes, recordsStand } from '../../../support/records-fixture.ts';

const HTML = { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' };
const JSON_ONLY = { accept: 'application/json' };
const FIRST = Date.UTC(2026, 10, 18, 6);
const DAY = 86_400_000;

describe('the time machine', () => {
  const endings: (() => unknown)[] = [];
  let stand: RecordsStand;
  before(async () => {
    stand = await recordsStand({ after: (work) => void endings.push(work) }, {}, FIRST);
    const on = (day: number, last: number, mx: string[]) =>
      probe(
        'xn--bcher-kva.example',
        FIRST + day * DAY,
        {
          A: [`192.0.2.${last}`],
          NS: ['ns1.secret-free.example'],
          MX: mx,
          TXT: ['a secret of the zone'],
        },
        certificate(String(last % 10)),
      );
    stand.enter(on(0, 1, []), on(1, 2, ['10 mx.hidden.example']), on(2, 3, ['10 mx.hidden.example']));
    stand.clock.now = FIRST + 2 * DAY + 3_600_000;
    stand.app.store.records.watch(['new.example', 'paused.example'].map(parseHostname), stand.clock.now);
    stand.app.store.records.pause('paused.example');
  });
  after(async () => {
    for (const end of endings) await end();
  });
  const get = (path: string, headers: Record<string, string> = HTML) => ask(stand.url, path, headers);
  const HOST = '/t/xn--bcher-kva.example';

  function signIn(): string {
    const {
      store,
      clock: { now },
    } = stand.app;
    const { id } = store.records.accounts.ofEmail('ada@example.org', { id: newId(), plan: 'daily', made_at: now() });
    const { token } = beginSession(
      { sessions: store.records.sessions, now, newId, random: randomBytes },
      { account: id, browser: null },
    );
    return `records_session=${token}`;
  }

  test('an answer that is kept is what the router says', async () => {
    const shown = async (path: string, headers: Record<string, string>) => {
      const { status, text, headers: got } = await get(path, headers);
      const { date: _date, 'x-request-id': _id, 'keep-alive': _alive, ...rest } = got;
      return { status, text, headers: rest };
    };
    for (const headers of [HTML, JSON_ONLY, { accept: '*/*' }, {}, { accept: 'application/problem+json' }]) {
      // A length is for the router alone.
      const routed = await shown(HOST, { ...headers, 'content-length': '0' });
      assert.equal(routed.status, 200);
      for (let time = 0; time < 2; time++) assert.deepEqual(await shown(HOST, headers), routed);
    }
    for (const path of ['/t/new.example', '/t/paused.example', '/t/unknown.example', '/t/..', '/t/-'])
      for (const headers of [HTML, JSON_ONLY])
        for (let time = 0; time < 2; time++) {
          const { status, headers: routed } = await shown(path, { ...headers, 'content-length': '0' });
          const { status: other, headers: kept } = await shown(path, headers);
          assert.deepEqual([other, kept['content-type']], [status, routed['content-type']], path);
        }
  });

  test('the newest observation is shown as its preview, with its receipt, and nothing that is held back', async () => {
    const { status, text, headers } = await get(HOST);
    assert.equal(status, 200);
    assert.match(
      text,
      /<h1 class="named">.*?<span>bücher\.example <span class="mono alabel">xn--bcher-kva\.example<\/span><\/span><\/h1>/s,
    );
    for (const shown of ['Observation 3', 'ns1.secret-free.example', 'domain-observation/v1', 'id="verify"']) {
      assert.ok(text.includes(shown), shown);
    }
    for (const held of ['a secret of the zone', 'CN=example.test', 'Every value ever seen'])
      assert.ok(!text.includes(held), held);
    assert.match(String(headers['cache-control']), /^public, max-age=0, s-maxage=\d+/);
    assert.match(String(headers['content-security-policy']), /script-src 'self';/);
    assert.doesNotMatch(
      text,
      /<script(?![^>]*(?:\bsrc=|type="application\/json"))[^>]*>/,
      'no script stands in the page',
    );
  });

  test('JSON states its page, its time, where the rest is, and how to access it', async () => {
    const { settings } = stand.app;
    const root = settings.dataOrigin;
    const name = 'xn--bcher-kva.example';
    const { held_back, ...now } = JSON.parse((await get(HOST, JSON_ONLY)).text);
    assert.partialDeepStrictEqual(now, {
      view: 'time-machine',
      page: `${root}${HOST}`,
      as_of: null,
      record: `${root}/v1/domains/${name}`,
      preview: true,
      signed: false,
    });
    assert.match(held_back.how, /^This address shows everyone this preview, with a key too/);
    const back = JSON.parse((await get(`${HOST}?as_of=2026-11-18`, JSON_ONLY)).text);
    assert.deepEqual([back.as_of, back.seq], ['2026-11-18', 1]);
    assert.equal(back.record, `${root}/v1/domains/${name}?as_of=2026-11-18`);
    // A key changes nothing here, and the record is where the preview says.
    const key = { authorization: `Bearer ${stand.keyOf('account')}` };
    assert.deepEqual(JSON.parse((await get(HOST, { ...JSON_ONLY, ...key })).text), { ...now, held_back });
    const record = JSON.parse((await get(back.record.slice(root.length), key)).text);
    assert.deepEqual([record.preview, record.seq], [false, 1]);
  });

  test('both addresses without a key give the same preview, and only the API’s is throttled', async () => {
    const { view, page, as_of, record, held_back, ...shown } = JSON.parse((await get(HOST, JSON_ONLY)).text);
    const keyless = JSON.parse((await get('/v1/domains/xn--bcher-kva.example', {})).text);
    assert.deepEqual({ ...shown, held_back: held_back.fields }, { ...keyless, held_back: keyless.held_back.fields });
    assert.deepEqual([view, as_of], ['time-machine', null]);
    const again = await get('/v1/domains/xn--bcher-kva.example', {});
    assert.equal(again.status, 429);
    assert.equal(JSON.parse(again.text).page, page);
    assert.equal((await get(HOST, JSON_ONLY)).status, 200);
    assert.ok(record);
  });

  test('JSON is the preview, and proves its content', async () => {
    const { status, text, headers } = await get(HOST, JSON_ONLY);
    assert.equal(status, 200);
    assert.match(String(headers['content-type']), /^application\/json/);
    assert.equal(headers['access-control-allow-origin'], '*');
    const preview = JSON.parse(text) as Preview;
    assert.equal(preview.preview, true);
    assert.equal(preview.signed, false);
    assert.equal(preview.domain, 'xn--bcher-kva.example');
    assert.equal(preview.unicode, 'bücher.example');
    const { kid, signer } = stand.app.signer.key('records');
    const key = { kid, name: signer.name, publicKey: signer.publicKey, nbf: 0, retired_at: null };
    assert.deepEqual(answerFaults(preview, [key], verifyNode), []);
    const asProgram = await get(HOST, {});
    assert.equal(asProgram.text, text, 'a program that says nothing gets JSON');
    const carried = /<script type="application\/json" id="preview">(.*?)<\/script>/s.exec((await get(HOST)).text)?.[1];
    assert.partialDeepStrictEqual(
      preview,
      { ...JSON.parse(carried ?? ''), held_back: {} },
      'the page carries what it verifies',
    );
  });

  test('other origins may request the page, with ETags too', async () => {
    const headers = { ...JSON_ONLY, origin: 'https://elsewhere.example' };
    const preflight = await ask(
      stand.url,
      HOST,
      { origin: headers.origin, 'access-control-request-method': 'GET' },
      'OPTIONS',
    );
    assert.equal(preflight.status, 204);
    assert.match(String(preflight.headers['access-control-allow-headers']), /If-None-Match/);
    assert.equal((await get(HOST, headers)).headers['access-control-allow-origin'], '*');
  });

  test('a page is marked, and known again', async () => {
    for (const headers of [HTML, JSON_ONLY]) {
      const first = await get(HOST, headers);
      const again = await get(HOST, { ...headers, 'if-none-match': String(first.headers.etag) });
      assert.equal(again.status, 304);
      assert.equal(again.text, '');
      assert.match(String(first.headers.vary), /Accept/);
      const head = await ask(stand.url, HOST, headers, 'HEAD');
      assert.equal(head.status, 200);
      assert.equal(head.headers.etag, first.headers.etag);
      assert.equal(head.text, '');
    }
  });

  test('a date or a time shows the state at that moment', async () => {
    const seq = async (as_of: string) => JSON.parse((await get(`${HOST}?as_of=${as_of}`, JSON_ONLY)).text).seq;
    assert.equal(await seq('2026-11-18'), 1);
    assert.equal(await seq('2026-11-19'), 2);
    assert.equal(await seq('2026-11-19T05:59:59Z'), 1);
    assert.equal(await seq('2026-11-19T06:00:00Z'), 2);
    assert.equal(await seq('2026-11-19T07:00:00%2B01:00'), 2);
    assert.equal(await seq('2026-11-20'), 3, 'today is not over');
    assert.equal(await seq(''), 3, 'a form with nothing picked');
    const page = await get(`${HOST}?as_of=2026-11-18`);
    assert.equal(page.status, 200);
    assert.match(page.text, /Observation 1</);
    assert.match(page.text, /the state at <strong>the end of 2026-11-18<\/strong>/);
    assert.match(page.text, /<meta name="robots" content="noindex"/);
  });

  test('before the first observation the page says that there is none', async () => {
    const page = await get(`${HOST}?as_of=2026-11-01`);
    assert.equal(page.status, 404);
    assert.match(
      page.text,
      /There is no observation by <strong>the end of 2026-11-01<\/strong>: the first is of .*2026-11-18 06:00 UTC/s,
    );
    const { status, text } = await get(`${HOST}?as_of=2026-11-01`, JSON_ONLY);
    assert.equal(status, 404);
    assert.match(JSON.parse(text).message, /first observation is from 2026-11-18T06:00:00\.000Z/);
  });

  for (const bad of ['2026-13-40', '2026-02-30', 'yesterday', '2026-11-18T25:00:00Z', '20261118', '2026-11-22']) {
    test(`as_of=${bad} is refused`, async () => {
      const { status, text } = await get(`${HOST}?as_of=${bad}`, JSON_ONLY);
      assert.equal(status, 400);
      assert.equal(JSON.parse(text).field, 'as_of');
      assert.equal((await get(`${HOST}?as_of=${bad}`)).status, 400);
    });
  }

  test('what stood when is drawn: name servers and changes for everyone, every value for an account', async () => {
    const bands = (text: string) =>
      [
        ...text.matchAll(
          /<tr><th scope="row" class="fit mono">([^<]+)<\/th><td class="mono"><span class="value">([^<]*)<\/span><\/td><td class="fit"><a href="([^"]+)">/g,
        ),
      ].map(([, signal, label, url]) => `${signal} | ${label} | ${url?.split('as_of=')[1]}`);
    const open = await get(HOST);
    const [first, second, third] = ['18', '19', '20'].map((day) => `2026-11-${day}T06:00:00.000Z`);
    const shared = bands(open.text);
    assert.ok(shared.includes(`NS | ns1.secret-free.example | ${first}`), shared.join('\n'));
    assert.deepEqual(
      shared.filter((row) => row.startsWith('A |')),
      [first, second, third].map((at) => `A | 1 value | ${at}`),
    );
    assert.ok(shared.includes(`MX | no value | ${first}`) && shared.includes(`MX | 1 value | ${second}`));
    assert.doesNotMatch(open.text, /mx\.hidden\.example.*Values over time|a secret of the zone/s);
    const own = bands((await get(HOST, { ...HTML, cookie: signIn() })).text);
    assert.ok(own.includes(`A | 192.0.2.1 | ${first}`) && own.includes(`A | 192.0.2.3 | ${third}`), own.join('\n'));
    assert.ok(own.includes(`MX | 10 mx.hidden.example | ${second}`));
    // Each drawn band leads where its row in the table leads.
    const drawn = [...open.text.matchAll(/<a href="([^"]+)" tabindex="-1">/g)].map(([, url]) => url);
    assert.deepEqual(new Set(drawn.map((url) => url?.split('as_of=')[1])), new Set([first, second, third]));
    for (const url of new Set(drawn)) assert.equal((await get(String(url))).status, 200, url);
  });

  test('two moments stand side by side, the earlier one first; an account compares values', async () => {
    const [early, late] = ['2026-11-18', '2026-11-20'];
    for (const query of [`as_of=${late}&compare=${early}`, `as_of=${early}&compare=${late}`]) {
      const { status, text } = await get(`${HOST}?${query}`);
      assert.equal(status, 200);
      assert.match(text, /<meta name="robots" content="noindex"/);
      const [, table = ''] = /id="compared"(.*?)<\/section>/s.exec(text) ?? [];
      assert.ok(table.indexOf('2026-11-18T06') < table.indexOf('2026-11-20T06'), query);
      assert.match(table, /mono">MX<\/th><td>0 values<\/td><td>1 value<span class="tag changed">one change in between/);
      assert.match(table, /mono">A<\/th><td>1 value<\/td><td>1 value<span class="tag changed">2 changes in between/);
      assert.match(table, /mono">certificate<\/th><td>1 value<\/td><td>1 value<span class="tag changed">2 changes/);
      assert.match(table, /The same<\/th><td [^>]*>NS/);
      assert.ok(!table.includes('192.0.2.'), 'values are for accounts');
      const own = (await get(`${HOST}?${query}`, { ...HTML, cookie: signIn() })).text;
      assert.match(
        own,
        /<span class="value gone">192\.0\.2\.1<\/span><\/td><td class="mono"><span class="value come">192\.0\.2\.3</,
      );
      assert.match(
        own,
        /<span class="value gone">none<\/span><\/td><td class="mono"><span class="value come">10 mx\.hidden/,
      );
    }
    const { compared_with } = JSON.parse((await get(`${HOST}?as_of=${late}&compare=${early}`, JSON_ONLY)).text);
    assert.equal(compared_with.seq, 1);
    assert.deepEqual(answerFaults(compared_with, stand.app.store.desk.verifyingKeys('records'), verifyNode), []);
    const same = (await get(`${HOST}?as_of=${late}&compare=${late}`)).text;
    assert.match(same, /Nothing changed in between/);
  });

  test('“previous” leads to the address of both times; of the first observation, to its own', async () => {
    const at = async (query: string) => (await get(`${HOST}?${query}`)).headers.location;
    assert.equal(
      await at('as_of=2026-11-19&compare=previous'),
      `${HOST}?as_of=2026-11-19T06:00:00.000Z&compare=2026-11-18T06:00:00.000Z`,
    );
    assert.equal(await at('as_of=2026-11-18&compare=previous'), `${HOST}?as_of=2026-11-18T06:00:00.000Z`);
    const changed = /href="(\/t\/[^"]+compare=previous)"/.exec((await get(HOST)).text)?.[1] ?? '';
    const { status, headers } = await get(changed.replaceAll('&amp;', '&').replaceAll('&#38;', '&'));
    assert.equal(status, 302, changed);
    assert.equal((await get(String(headers.location))).status, 200);
  });

  test('a time to compare with that cannot be is refused, and names its field', async () => {
    for (const [compare, status] of [
      ['yesterday', 400],
      ['2026-11-22', 400],
      ['2026-11-01', 404],
    ] as const) {
      const { text, ...answer } = await get(`${HOST}?as_of=2026-11-20&compare=${compare}`, JSON_ONLY);
      assert.equal(answer.status, status, compare);
      assert.match(JSON.parse(text).message, /^compare: /);
      assert.equal(JSON.parse(text).field, 'compare');
      assert.equal((await get(`${HOST}?compare=${compare}`)).status, status);
    }
    assert.equal((await get(`${HOST}?as_of=&compare=`)).status, 200, 'a form with nothing picked');
  });

  test('a name has one address', async () => {
    for (const [path, to] of [
      ['/t/B%C3%BCcher.example', HOST],
      ['/t/XN--BCHER-KVA.example.', HOST],
      [`/t/xn--bcher-kva.EXAMPLE?as_of=2026-11-18`, `${HOST}?as_of=2026-11-18`],
    ] as const) {
      const { status, headers } = await get(path);
      assert.equal(status, 308, path);
      assert.equal(headers.location, to);
    }
  });

  test('an invalid hostname is 400, an unwatched one 404, each as a page for browsers', async () => {
    const names = [
      'a..b.com',
      '1.2.3.4',
      '0x7f.1',
      '*.example.com',
      '_dmarc.example.com',
      'com',
      `${'a'.repeat(64)}.com`,
      'a%00b.com',
      '%F0%9F%92%A9.la',
    ];
    for (const name of names) {
      const json = await get(`/t/${name}`, JSON_ONLY);
      assert.equal(json.status, 400, name);
      assert.equal(JSON.parse(json.text).error, 'invalid_request', name);
      const page = await get(`/t/${name}`);
      assert.equal(page.status, 400, name);
      assert.match(page.text, /<h1>Invalid request<\/h1>/);
      assert.match(page.text, /is not a hostname/);
      assert.equal(page.headers['cache-control'], 'private, no-store');
    }
    const json = await get('/t/nobody.example', JSON_ONLY);
    assert.equal(json.status, 404);
    assert.equal(JSON.parse(json.text).error, 'not_watched');
    const page = await get('/t/nobody.example');
    assert.equal(page.status, 404);
    assert.match(page.text, /<h1>Not watched<\/h1>/);
    assert.match(page.text, /nobody\.example is not under watch\. Search finds/);
  });

  test('a name not observed yet, and one that is paused, say so', async () => {
    const fresh = await get('/t/new.example');
    assert.equal(fresh.status, 200);
    assert.match(fresh.text, /was not observed yet/);
    assert.equal((await get('/t/new.example', JSON_ONLY)).status, 404);
    assert.match((await get('/t/paused.example')).text, /This hostname is paused/);
  });

  test('everyone sees the newest three changes and the total; signed-in readers see all, and every field', async () => {
    const total = stand.app.store.records.deltaCount({
      host: stand.app.store.records.find('xn--bcher-kva.example')?.id,
    });
    assert.ok(total > 3);
    const rows = (text: string) => text.match(/id="change-\d+"/g)?.length;
    const open = await get(HOST);
    assert.equal(rows(open.text), 3);
    assert.ok(open.text.includes(`3 of ${total}`));
    const cookie = signIn();
    const own = await get(HOST, { ...HTML, cookie });
    assert.equal(rows(own.text), total);
    for (const shown of [
      'a secret of the zone',
      '10 mx.hidden.example',
      'CN=example.test',
      'Every value ever seen',
      'ada@example.org',
    ]) {
      assert.ok(own.text.includes(shown), shown);
    }
    assert.equal(own.headers['cache-control'], 'private, no-store');
    assert.equal(own.headers.etag, undefined);
    const json = await get(HOST, { ...JSON_ONLY, cookie });
    assert.equal(json.headers['cache-control'], 'private, no-store', 'an answer to a session is not for shared caches');
    assert.equal((await get(`${HOST}?changes=none`, { ...HTML, cookie })).status, 400);
  });

  test('a cached response is never older than what another process stored', async (t) => {
    const { app, clock } = stand;
    const other = openAppContext(app.settings, () => clock.now);
    t.after(() => other.close());
    const host = '/t/kept.example';
    const look = (last: number) => {
      clock.now += 60_000;
      recordProbes(other, clock, [probe('kept.example', clock.now, { A: [`192.0.2.${last}`] })]);
    };
    const seen = async () => {
      const [page, json, again] = [await get(host), await get(host, JSON_ONLY), await get(host)];
      assert.equal(again.text, page.text);
      const { seq } = JSON.parse(json.text) as Preview;
      assert.ok(page.text.includes(`Observation ${seq}<`));
      assert.notEqual(page.headers.etag, json.headers.etag);
      const head = await ask(stand.url, host, HTML, 'HEAD');
      assert.equal(head.headers['content-length'], String(page.body.length));
      return { seq, page: page.text, etag: String(page.headers.etag) };
    };
    look(1);
    const first = await seen();
    look(2);
    const second = await seen();
    assert.ok(second.seq > first.seq);
    assert.equal((await get(host, { ...HTML, 'if-none-match': first.etag })).status, 200);
    assert.equal((await get(host, { ...HTML, 'if-none-match': second.etag })).status, 304);
    other.store.records.pause('kept.example');
    assert.match((await seen()).page, /This hostname is paused/);
    other.store.records.watch([parseHostname('kept.example')], clock.now);
    assert.equal((await seen()).page, second.page);
    const day = new Date(clock.now).toISOString().slice(0, 10);
    clock.now += DAY;
    assert.ok(second.page.includes(`max="${day}"`) && !(await seen()).page.includes(`max="${day}"`), 'midnight');
    assert.match((await get(`${host}?as_of=${day}`)).text, /You see the state at/);
    const key = stand.keyOf('service');
    const toKey = await get(host, { ...JSON_ONLY, 'x-service-key': key });
    assert.equal(toKey.headers['cache-control'], 'private, no-store');
    other.store.records.optOut(parseHostname('kept.example'), 'asked', 'test', clock.now);
    for (const headers of [HTML, JSON_ONLY, { ...HTML, 'if-none-match': second.etag }]) {
      assert.equal((await get(host, headers)).status, 404);
    }
  });

  test('an observation that was signed by a clock ahead says when it was signed at the latest', async (t) => {
    const ahead = await recordsStand(t, {}, FIRST);
    ahead.enter(probe('ahead.example', FIRST + 300 * DAY, { A: ['192.0.2.1'] }));
    const shown = async () => (await ask(ahead.url, '/t/ahead.example', HTML)).text;
    assert.doesNotMatch(await shown(), /clock of this server was wrong/);
    ahead.clock.now = FIRST + DAY;
    correctClock(ahead.app, [], ahead.clock.now);
    assert.match(
      await shown(),
      /at <time datetime="2026-11-19T06:00:00.000Z">2026-11-19 06:00:00 UTC<\/time> at the latest/,
    );
  });
});
