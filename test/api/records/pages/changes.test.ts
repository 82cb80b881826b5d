import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { parseHostname } from '../../../../src/records/hostname.ts';
import { SIGNAL_MEANINGS } from '../../../../src/records/signal-meanings.ts';
import { READS } from '../../../../src/shared/limits.ts';
import { ask } from '../../../support/http.ts';
import { probe } from '../../../support/probes.ts';
import { type RecordsStand, recordsStand } from '../../../support/records-fixture.ts';
import { seededProbes } from '../../../support/seeded-records.ts';
import { ONLY_WIDE } from '../../../support/wide.ts';

const HTML = { accept: 'text/html' };
const JSON_ONLY = { accept: 'application/json' };
const NOW = Date.UTC(2026, 10, 21, 9);
const DAY = 86_400_000;

interface Row {
  seq: number;
  at: string;
  domain: string;
  signal: string;
  kind: string;
  line: string;
}

interface List {
  items: Row[];
  total: number;
  next_cursor: string | null;
}

interface Feed {
  rss: {
    channel: {
      lastBuildDate?: string;
      item?: { title: string; guid: { '#text': string }; description: string; link: string }[];
      'atom:link': { '@_rel': string; '@_href': string }[];
      'fh:archive'?: string;
    };
  };
}

const readFeed = (xml: string): Feed['rss']['channel'] => {
  assert.equal(XMLValidator.validate(xml), true);
  return (new XMLParser({ ignoreAttributes: false, isArray: (name) => name === 'item' }).parse(xml) as Feed).rss
    .channel;
};

describe('the changes', () => {
  const endings: (() => unknown)[] = [];
  let stand: RecordsStand;
  before(async () => {
    const env = { TRUSTED_PROXIES: '127.0.0.1' };
    stand = await recordsStand({ after: (work) => void endings.push(work) }, env, NOW - 12 * DAY);
    stand.enter(...seededProbes(NOW, 12));
    stand.clock.now = NOW;
  });
  after(async () => {
    for (const end of endings) await end();
  });
  const get = (path: string, headers: Record<string, string> = HTML) => ask(stand.url, path, headers);
  const list = async (path: string): Promise<List> => JSON.parse((await get(path, JSON_ONLY)).text);

  test('a day has its changes and no others, as a page and as JSON', async () => {
    const { items, total, next_cursor } = await list('/changes/2026-11-20');
    assert.ok(total > 3);
    assert.equal(items.length, total);
    assert.equal(next_cursor, null);
    assert.ok(items.every(({ at }) => at.startsWith('2026-11-20T')));
    assert.deepEqual(Object.keys(items[0] ?? {}), [
      'seq',
      'at',
      'domain',
      'signal',
      'kind',
      'before',
      'after',
      'observation_seq',
    ]);
    const page = await get('/changes/2026-11-20');
    assert.equal(page.status, 200);
    // Grouped by registrable domain, in each group newest first.
    const groups = page.text.split('<section class="group"').slice(1);
    const seqsIn = (text: string) => [...text.matchAll(/id="change-(\d+)"/g)].map(([, seq]) => Number(seq));
    assert.deepEqual(new Set(groups.flatMap(seqsIn)), new Set(items.map(({ seq }) => seq)));
    assert.ok(groups.length < items.length);
    for (const group of groups) {
      const seqs = seqsIn(group);
      assert.deepEqual(
        seqs,
        seqs.toSorted((a, b) => b - a),
      );
      const names = seqs.map((seq) =>
        items
          .find((row) => row.seq === seq)
          ?.domain.split('.')
          .slice(-2)
          .join('.'),
      );
      assert.equal(new Set(names).size, 1);
    }
    for (const signal of new Set(items.map((row) => row.signal))) {
      const name = signal === 'CERTIFICATE' ? 'certificate' : signal;
      const count = items.filter((row) => row.signal === signal).length;
      const { title } = SIGNAL_MEANINGS[signal as keyof typeof SIGNAL_MEANINGS];
      assert.match(page.text, new RegExp(`>${name}</span> <span [^>]*>${title}<.*?<strong>${count}</strong>`, 's'));
    }
    assert.match(page.text, /href="\/changes\/2026-11-19"/);
    assert.match(page.text, /rel="next" href="\/changes\/2026-11-21"/);
  });

  test('today has a page like other days; the first day has no previous one, and an empty day is not an error', async () => {
    assert.deepEqual(await list('/changes/today'), await list('/changes/2026-11-21'));
    const page = await get('/changes/today');
    assert.match(page.text, /<link rel="canonical"|<meta name="robots" content="noindex"/);
    assert.doesNotMatch(page.text, /rel="next" href="\/changes\/2026-11-22"/);
    assert.match((await get('/changes/2026-11-11')).text, /the first day/);
    assert.deepEqual(await list('/changes/1999-12-31'), { day: '1999-12-31', items: [], total: 0, next_cursor: null });
    assert.match((await get('/changes/1999-12-31')).text, /Nothing changed on this day/);
  });

  test('filters are in the address, alike for pages and JSON, and each page of a list keeps them', async () => {
    const day = '/changes/2026-11-20';
    const whole = (await list(`${day}?limit=1000`)).items;
    const name = 'lighthouse-board.example';
    const noon = whole[Math.floor(whole.length / 2)]?.at.slice(11, 16) ?? '';
    const cases: [query: string, keeps: (row: Row) => boolean][] = [
      ['kind=changed', ({ kind }) => kind === 'changed'],
      ['kind=removed', ({ kind }) => kind === 'removed'],
      ['signal=a', ({ signal }) => signal === 'A'],
      ['signal=CERTIFICATE&kind=changed', ({ signal, kind }) => signal === 'CERTIFICATE' && kind === 'changed'],
      [`name=${name}`, ({ domain }) => `.${domain}`.endsWith(`.${name}`)],
      [
        `name=LIGHTHOUSE-board.example.&signal=A&kind=&from=&to=`,
        ({ domain, signal }) => signal === 'A' && `.${domain}`.endsWith(`.${name}`),
      ],
      [`from=${noon}`, ({ at }) => at.slice(11, 16) >= noon],
      [`to=${noon}&kind=changed`, ({ at, kind }) => at.slice(11, 16) < noon && kind === 'changed'],
    ];
    for (const [query, keeps] of cases) {
      const found = await list(`${day}?${query}`);
      const wanted = whole.filter(keeps).map(({ seq }) => seq);
      assert.deepEqual(
        found.items.map(({ seq }) => seq),
        wanted,
        query,
      );
      assert.equal(found.total, wanted.length, query);
      const page = await get(`${day}?${query}`);
      assert.equal(page.text.match(/id="change-/g)?.length ?? 0, wanted.length, query);
      assert.match(page.text, /<meta name="robots" content="noindex"/);
    }
    const { headers } = await get(`${day}?signal=A&limit=2`, JSON_ONLY);
    assert.match(String(headers.link), /signal=A&limit=2&cursor=|cursor=.*signal=A/);
    assert.match(
      (await get(`${day}?signal=A&limit=2`)).text,
      /rel="next" href="\/changes\/2026-11-20\?signal=A&(?:amp;|#38;)?limit=2/,
    );
    const form = await get(`/changes?day=2026-11-20&kind=added&signal=&name=%C3%A4.example&from=&to=`);
    assert.equal(form.status, 303);
    assert.equal(form.headers.location, '/changes/2026-11-20?kind=added&name=%C3%A4.example');
    assert.equal((await get('/changes')).headers.location, '/changes/today');
    assert.equal((await get('/changes?day=%2F%2Fevil.example')).headers.location, '/changes/%2F%2Fevil.example');
  });

  test('a filter that cannot be is 400, and names its field', async () => {
    for (const [query, field, said] of [
      ['kind=moved', 'kind', /added, changed, removed/],
      ['signal=PTR', 'signal', /must be one of A, AAAA/],
      ['from=9:30', 'from', /as in 09:30/],
      ['to=24:00', 'to', /23:59/],
      ['from=10:00&to=10:00', 'to', /later than from, 10:00/],
      ['name=co.uk', 'name', /co\.uk is a public suffix/],
      ['name=a%00b', 'name', /name/],
      ['name=%EF%BF%BF', 'name', /name/],
    ] as const) {
      const { status, text } = await get(`/changes/2026-11-20?${query}`, JSON_ONLY);
      assert.equal(status, 400, query);
      assert.equal(JSON.parse(text).field, field, query);
      assert.match(JSON.parse(text).message, said);
      assert.equal((await get(`/changes/2026-11-20?${query}`)).status, 400, query);
    }
  });

  test('an invalid day is 400, and a future day 404', async () => {
    for (const day of ['2026-13-40', '2026-02-30', 'yesterday', '20261120', '2026-11-20T00:00:00Z', '%00']) {
      const { status, text } = await get(`/changes/${day}`, JSON_ONLY);
      assert.equal(status, 400, day);
      assert.equal(JSON.parse(text).field, 'date', day);
      assert.equal((await get(`/changes/${day}`)).status, 400, day);
    }
    assert.equal((await get('/changes/2026-11-22')).status, 404);
    for (const query of ['cursor=none', 'limit=many', 'cursor=WzFd%22']) {
      const { status, text } = await get(`/changes/2026-11-20?${query}`, JSON_ONLY);
      assert.equal(status, 400, query);
      assert.equal(JSON.parse(text).field, query.split('=')[0]);
    }
  });

  test('pages of a day and of the feed together are all of it, each change once', async () => {
    for (const path of ['/changes/2026-11-20', '/changes.json']) {
      const whole = await list(`${path}?limit=1000`);
      assert.equal(whole.items.length, whole.total, path);
      const seqs: number[] = [];
      let next: string | null = `${path}?limit=7`;
      while (next !== null) {
        const { headers, text } = await get(next, JSON_ONLY);
        const part = JSON.parse(text) as List;
        seqs.push(...part.items.map(({ seq }) => seq));
        const link = /^<(.+)>; rel="next"$/.exec(String(headers.link ?? ''))?.[1];
        assert.equal(link === undefined, part.next_cursor === null);
        next = link === undefined ? null : new URL(link).pathname + new URL(link).search;
      }
      assert.deepEqual(
        seqs,
        whole.items.map(({ seq }) => seq),
        path,
      );
    }
  });

  test('the feed as RSS is sound, has a change under its number, and is as old as its newest change', async () => {
    stand.enter(probe('odd.example', NOW + 1, { TXT: ['plain'] }));
    const odd = ']]> & <b>"\\195\\188" &amp;';
    stand.enter(probe('odd.example', NOW + 2, { TXT: [odd] }));
    const { text, headers } = await get('/changes.rss', {});
    assert.match(String(headers['content-type']), /^application\/rss\+xml/);
    assert.equal(headers['access-control-allow-origin'], '*');
    const { item = [], lastBuildDate } = readFeed(text);
    const newest = await list('/changes.json');
    assert.deepEqual(
      item.slice(0, 100).map(({ guid }) => guid['#text']),
      newest.items.map(({ seq, at }) => `http://localhost:4322/changes/${at.slice(0, 10)}#change-${seq}`),
    );
    assert.equal(Date.parse(lastBuildDate ?? ''), Math.floor(Date.parse(newest.items[0]?.at ?? '') / 1000) * 1000);
    assert.equal(item[0]?.title, `odd.example TXT changed: plain → ${odd}`);
    assert.equal(item[0]?.link, 'http://localhost:4322/t/odd.example');
    const again = await get('/changes.rss', { 'if-none-match': String(headers.etag) });
    assert.equal(again.status, 304);
  });

  test('the feed pages back to its first change, each under one id, and archives change no more', {
    skip: ONLY_WIDE,
  }, async () => {
    stand.enter(...Array.from({ length: 260 }, (_, n) => probe('odd.example', NOW + 10 + n, { TXT: [`news ${n}`] })));
    const whole = (await list('/changes.json?limit=1000')).items;
    const walk = async (rel: string) => {
      const seen: string[] = [];
      const documents: string[] = [];
      for (let path: string | undefined = '/changes.rss'; path !== undefined; ) {
        const { text, status } = await get(path, {});
        assert.equal(status, 200, path);
        const feed = readFeed(text);
        const linkTo = (name: string) => feed['atom:link'].find((link) => link['@_rel'] === name)?.['@_href'];
        assert.equal(linkTo('self'), `http://localhost:4322${path}`);
        assert.equal(linkTo('current'), 'http://localhost:4322/changes.rss');
        assert.equal('fh:archive' in feed, path !== '/changes.rss', path);
        documents.push(path);
        seen.push(...(feed.item ?? []).map(({ guid }) => guid['#text']));
        const next = linkTo(rel);
        path = next === undefined ? undefined : next.slice('http://localhost:4322'.length);
      }
      return { seen, documents };
    };
    const { seen, documents } = await walk('prev-archive');
    assert.ok(documents.length > 2, documents.join(' '));
    assert.deepEqual(
      seen.map((id) => Number(/#change-(\d+)$/.exec(id)?.[1])),
      whole.map(({ seq }) => seq),
    );
    assert.equal(new Set(seen).size, seen.length);
    assert.deepEqual(await walk('next'), { seen, documents }, 'paged and archived feeds are one');
    const oldest = documents.at(-1) ?? '';
    const before = (await get(oldest, {})).text;
    stand.enter(probe('odd.example', NOW + 400, { TXT: ['later'] }));
    assert.equal((await get(oldest, {})).text, before);
    for (const [query, status] of [
      ['0', 400],
      ['x', 400],
      ['', 400],
      ['99999', 404],
    ] as const) {
      assert.equal((await get(`/changes.rss?archive=${query}`, {})).status, status, query);
    }
  });

  test('the tape has the last 50, each in a line, is marked, and open to other origins', async () => {
    const { items, total, next_cursor } = await list('/v1/tape');
    assert.equal(items.length, 50);
    assert.ok(total > 50);
    assert.equal(next_cursor, null);
    assert.deepEqual(Object.keys(items[0] ?? {}), ['seq', 'at', 'domain', 'signal', 'kind', 'line']);
    assert.deepEqual(
      items.map(({ seq }) => seq),
      (await list('/changes.json')).items.slice(0, 50).map(({ seq }) => seq),
    );
    const { headers } = await get('/v1/tape');
    assert.equal(headers['access-control-allow-origin'], '*');
    assert.match(String(headers['cache-control']), /^public, max-age=0, s-maxage=60/);
    assert.equal((await get('/v1/tape', { 'if-none-match': String(headers.etag) })).status, 304);
    stand.enter(probe('odd.example', NOW + 500, { TXT: ['news'] }));
    const fresh = await get('/v1/tape', { 'if-none-match': String(headers.etag) });
    assert.equal(fresh.status, 200);
    assert.match((JSON.parse(fresh.text) as List).items[0]?.line ?? '', /^odd\.example TXT changed: .* → news$/);
  });

  test('an answer to a key is private', async () => {
    const { headers } = await get('/v1/tape', { 'x-service-key': stand.keyOf('account') });
    assert.equal(headers['cache-control'], 'private, no-store');
    assert.equal(headers.etag, undefined);
  });

  test('the front page has the totals, the tape, and three of each list with how many there are', async () => {
    const { records } = stand.app.store;
    const { text, status, headers } = await get('/');
    assert.equal(status, 200);
    const total = records.deltaCount({});
    assert.equal([...text.matchAll(/<tr data-seq=/g)].length, 50);
    for (const count of [
      `3 of ${records.counts().watched}`,
      `50 of ${total}`,
      `3 of ${records.facetNames('service')}`,
      `3 of ${records.facetNames('issuer')}`,
    ]) {
      assert.ok(text.includes(count), count);
    }
    assert.match(text, new RegExp(`<dt>Signed observations</dt><dd>${records.nextSeq() - 1} `));
    assert.match(text, /curl http:\/\/localhost:4322\/v1\/domains\/odd\.example/);
    assert.equal((await get('/', { ...HTML, 'if-none-match': String(headers.etag) })).status, 304);
  });

  test('the front page shows the receipt of a name that a reader types, and why there is none', async () => {
    const page = await get('/?name=%20Harbor-Ledger.EXAMPLE%20');
    assert.equal(page.status, 200);
    assert.match(page.text, /<code>domain harbor-ledger\.example<\/code>/);
    assert.match(page.text, /name="name"[^>]*value="harbor-ledger\.example"/);
    assert.match(page.text, /<meta name="robots" content="noindex"/);
    const preview = JSON.parse(/id="preview">(.*?)<\/script>/s.exec(page.text)?.[1] ?? '');
    const { receipt } = JSON.parse((await get('/t/harbor-ledger.example', JSON_ONLY)).text);
    assert.equal(preview.receipt, receipt);
    assert.equal(preview.domain, 'harbor-ledger.example');
    for (const [name, status, said] of [
      ['nobody.example', 404, 'nobody.example is not under watch'],
      ['a<b>', 400, 'a&lt;b&gt;'],
      ['%00', 400, ''],
      [`${'x'.repeat(400)}.example`, 400, ''],
    ] as const) {
      const { text, ...refused } = await get(`/?name=${name}`);
      assert.equal(refused.status, status, name);
      assert.ok(text.includes(said), name);
      assert.doesNotMatch(text, /id="preview"/);
    }
  });

  test('opted-out names disappear everywhere immediately', async () => {
    const name = 'odd.example';
    const paths = ['/', '/changes/today', '/changes.json', '/changes.rss', '/v1/tape'];
    for (const path of paths) assert.ok((await get(path)).text.includes(name), path);
    assert.equal((await get(`/badge/${name}.svg`)).status, 200);
    const before = (await list('/changes.json')).total;
    const own = stand.app.store.records.deltaCount({ host: stand.app.store.records.find(name)?.id });
    stand.app.store.records.optOut(parseHostname(name), 'asked by mail', 'test', stand.clock.now);
    for (const path of paths) assert.ok(!(await get(path)).text.includes(name), path);
    assert.equal((await list('/changes.json')).total, before - own);
    const { status, text } = await get(`/t/${name}`, JSON_ONLY);
    assert.equal(status, 404);
    assert.equal(JSON.parse(text).error, 'not_found');
    assert.equal((await get(`/t/${name}`)).status, 404);
    assert.equal((await get(`/t/below.${name}`)).status, 404);
    const badge = await get(`/badge/${name}.svg`);
    assert.equal(badge.status, 404);
    const drawn = (text: string, of: string) => text.replaceAll(of, '').replace(/ (?:width|x)="[\d.]+"/g, '');
    const stranger = await get('/badge/nobody.example.svg');
    assert.equal(drawn(badge.text, name), drawn(stranger.text, 'nobody.example'), 'nobody can tell why there is none');
  });

  test('an empty service has pages too', async (t) => {
    const empty = await recordsStand(t);
    for (const path of ['/', '/changes/today', '/changes.rss', '/changes.json', '/v1/tape']) {
      assert.equal((await ask(empty.url, path, HTML)).status, 200, path);
    }
    assert.deepEqual(readFeed((await ask(empty.url, '/changes.rss')).text).item, undefined);
    const fresh = (await ask(empty.url, '/', HTML)).text;
    assert.match(fresh, /<strong[^>]*>Example<\/strong> Invented names and values: nothing below was observed/);
    assert.match(fresh, /broadsheet -- watch example\.com/);
    assert.doesNotMatch(
      fresh,
      /<dl class="totals"|id="tape"|\/t\/[a-z-]+\.example"/,
      'no figures at zero, and no link',
    );

    empty.enter(probe('first.example', NOW, { A: ['192.0.2.1'] }));
    const baseline = (await ask(empty.url, '/', HTML)).text;
    assert.match(baseline, /Nothing has changed yet/);
    assert.doesNotMatch(baseline, /Example|class="bars"|0 of 0/);
  });

  test('callers are rate-limited by address, key holders are not', async () => {
    const from = (address: string, more = {}) => ({ ...HTML, 'x-forwarded-for': address, ...more });
    const etag = String((await get('/v1/tape')).headers.etag);
    const headers = from('203.0.113.5', { 'if-none-match': etag });
    const statuses: number[] = [];
    for (let sent = 0; sent < READS.points; sent += 20) {
      const answers = Array.from({ length: 20 }, () => fetch(`${stand.url}/v1/tape`, { headers }));
      for (const answer of await Promise.all(answers)) {
        statuses.push(answer.status);
        await answer.arrayBuffer();
      }
    }
    assert.ok(statuses.every((status) => status === 304));
    const page = await get('/changes/today', from('203.0.113.5'));
    assert.equal(page.status, 429, 'pages and public doors are counted together');
    assert.match(page.text, /<h1>Too many requests<\/h1>/);
    assert.match(String(page.headers['retry-after']), /^\d+$/);
    const json = await get('/v1/tape', from('203.0.113.5'));
    assert.equal(JSON.parse(json.text).error, 'rate_limited');
    assert.equal((await get('/', from('203.0.113.6'))).status, 200);
    const key = { 'x-service-key': stand.keyOf('account') };
    assert.equal((await get('/v1/tape', from('203.0.113.5', key))).status, 200);
  });
});
