import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { parseHostname } from '../../../../src/records/hostname.ts';
import { ask } from '../../../support/http.ts';
import { type RecordsStand, recordsStand } from '../../../support/records-fixture.ts';
import { seededProbes } from '../../../support/seeded-records.ts';
import { cookieOf } from '../../../support/signed-in.ts';

const NOW = Date.UTC(2026, 10, 21, 9);
const DAY = 86_400_000;
const LISTS = ['/services', '/issuers', '/mail-hosts', '/dns-hosts', '/types'];

interface List {
  items: Record<string, unknown>[];
  total: number;
  held_back?: number;
  sign_in_url?: string;
  next_cursor?: string | null;
}

describe('the pages of lists, figures and search', () => {
  const endings: (() => unknown)[] = [];
  let stand: RecordsStand;
  let cookie: string;
  before(async () => {
    stand = await recordsStand({ after: (work) => void endings.push(work) }, {}, NOW - 12 * DAY);
    stand.enter(...seededProbes(NOW, 12));
    stand.clock.now = NOW;
    cookie = cookieOf(stand.app);
  });
  after(async () => {
    for (const end of endings) await end();
  });
  const page = (path: string, more: Record<string, string> = {}) =>
    ask(stand.url, path, { accept: 'text/html', ...more });
  const json = async (path: string, more: Record<string, string> = {}): Promise<List> =>
    JSON.parse((await ask(stand.url, path, { accept: 'application/json', ...more })).text);
  const links = (html: string): string[] =>
    [...html.matchAll(/<a class="host" href="([^"]*)"/g)].map(([, href]) => href ?? '');

  test('anyone sees three rows of a list and the total; an account sees all', async () => {
    for (const path of ['/domains', ...LISTS]) {
      const open = await json(path);
      const whole = await json(path, { cookie });
      assert.equal(open.items.length, 3, path);
      assert.deepEqual(open.items, whole.items.slice(0, 3));
      assert.equal(open.total, whole.total);
      assert.equal(whole.items.length, whole.total, 'one page has them all here');
      assert.equal(open.held_back, open.total - 3);
      assert.equal(open.sign_in_url, `${stand.app.settings.dataOrigin}/account`);
      assert.equal(whole.next_cursor, null);

      const html = (await page(path)).text;
      assert.equal(links(html).length, 3);
      const end = new RegExp(`<strong>${open.total} [^<]*</strong> in all, ${open.total - 3} of them not shown`);
      if (open.total > 3) assert.match(html, end);
      else assert.doesNotMatch(html, /not shown here/);
      const own = (await page(path, { cookie })).text;
      assert.equal(links(own).length, whole.total);
      assert.doesNotMatch(own, /not shown here/);
    }
  });

  test('an account gets each list as a file, strangers do not', async () => {
    for (const path of ['/domains', '/services', '/issuers', '/mail-hosts', '/dns-hosts']) {
      const link = `/account/exports${path}.csv`;
      assert.ok((await page(path, { cookie })).text.includes(`href="${link}"`), path);
      assert.ok(!(await page(path)).text.includes(link), path);
      const { status, headers } = await page(link, { cookie });
      assert.deepEqual([status, headers['content-type']], [200, 'text/csv; charset=utf-8; header=present'], path);
      assert.equal((await page(link)).status, 303);
    }
  });

  test('a key of the API changes nothing on a page, and a cursor opens nothing to strangers', async () => {
    const open = await json('/domains');
    assert.deepEqual(await json('/domains', { 'x-service-key': stand.keyOf('account') }), open);
    const cursor = Buffer.from(JSON.stringify(['h'])).toString('base64url');
    assert.deepEqual(await json(`/domains?cursor=${cursor}`), open);
  });

  test('each value has a page below its list, and every link works', async () => {
    for (const path of LISTS) {
      for (const href of links((await page(path, { cookie })).text)) {
        const { status, text } = await page(href, { cookie });
        assert.equal(status, 200, href);
        assert.ok(links(text).length > 0, href);
      }
    }
    const { records } = stand.app.store;
    const [top] = records.topFacets('issuer', 1);
    const hosts = await json(`/issuers/${encodeURIComponent(top?.name ?? '')}`);
    assert.equal(hosts.total, top?.count);
    assert.equal(hosts.items.length, 3);
    assert.deepEqual(Object.keys(hosts.items[0] ?? {}), ['domain', 'unicode', 'state', 'observed_at', 'seq']);
  });

  test('a word search of the catalog is paginated', async () => {
    const names = Array.from({ length: 105 }, (_, n) => parseHostname(`many-${n}.test`));
    stand.app.store.records.watch(names, stand.clock.now);
    const first = await json('/domains?q=many', { cookie });
    assert.equal(first.items.length, 100);
    assert.equal(first.total, 105);
    const { text } = await page('/domains?q=many', { cookie });
    const next = /<a href="(\/domains\?q=many[^"]*)" rel="next"/
      .exec(text)?.[1]
      ?.replace('&#38;', '&')
      .replace('&amp;', '&');
    assert.equal(next, `/domains?q=many&cursor=${first.next_cursor}`);
    assert.equal(links((await page(next, { cookie })).text).length, 5);
    assert.match((await page('/search?q=many', { cookie })).text, /<a href="\/domains\?q=many" rel="next">All of them/);
    assert.deepEqual((await json('/domains?q=many')).items.length, 3);
  });

  test('a name that nothing has is 404, and one that would be markup stays text', async () => {
    const { status, text } = await page(`/services/mail/${encodeURIComponent('<b>"&')}`);
    assert.equal(status, 404);
    assert.doesNotMatch(text, /<b>"/);
    assert.equal((await page('/issuers/%FF')).status >= 400, true);
    assert.equal((await page('/domains?cursor=x', { cookie })).status, 400);
  });

  test('public pages are cacheable until something changes; an account’s are never cached', async () => {
    const first = await page('/services');
    const before = (await page('/domains')).headers.etag ?? '';
    assert.match(first.headers['cache-control'] ?? '', /^public/);
    const etag = first.headers.etag ?? '';
    assert.equal((await page('/services', { 'if-none-match': etag })).status, 304);
    assert.equal((await page('/services', { cookie })).headers['cache-control'], 'private, no-store');
    const shown = (await json('/domains')).items[0]?.domain;
    stand.enter(...seededProbes(NOW + DAY, 1).filter(({ hostname }) => hostname === shown));
    assert.equal((await page('/domains', { 'if-none-match': before })).status, 200, 'another look, another state');
  });

  test('the figures match the store, and every chart has a table', async () => {
    const { text, status } = await page('/analytics');
    const { records } = stand.app.store;
    assert.equal(status, 200);
    assert.ok(text.includes(`<dt>Changes recorded</dt><dd>${records.deltaCount({}).toLocaleString('en')}</dd>`));
    assert.equal(text.match(/<figure/g)?.length, 2);
    assert.equal(text.match(/<figure[\s\S]*?<svg[\s\S]*?<\/svg>[\s\S]*?<details>[\s\S]*?<table/g)?.length, 2);
    assert.equal(text.match(/role="img" aria-label="/g)?.length, 2);
    const days = records.changesByDay('2026-11-01', '2026-12-01');
    for (const { day } of days) assert.ok(text.includes(`<a href="/changes/${day}">${day}</a>`), day);
    // Each hostname's certificate stands in one column.
    const certificates = [
      ...(/by the week[\s\S]*?<tbody>([\s\S]*?)<\/tbody>/.exec(text)?.[1] ?? '').matchAll(/"num">([\d,]+)</g),
    ];
    const sum = certificates.reduce((all, [, count]) => all + Number((count ?? '').replace(',', '')), 0);
    assert.equal(
      sum,
      records.facetRange('expiry', '', '~').reduce((all, { count }) => all + count, 0),
    );
    assert.ok(sum > 0);
    assert.doesNotMatch(text, /<script(?![^>]*src)/, 'drawn without a script');
  });

  test('one search finds hostnames, values, services and issuers', async () => {
    const found = async (q: string, more = {}) => (await page(`/search?q=${encodeURIComponent(q)}`, more)).text;
    assert.ok(links(await found('harbor')).includes('/t/harbor-ledger.example'));
    assert.ok(links(await found('büch')).includes('/t/xn--bcher-kva.example'));
    assert.ok(links(await found('let’s')).length === 0);
    assert.match(await found("let's"), /Certificate issuers/);
    assert.match(await found('google'), /href="\/services\/mail\/Google%20Workspace"/);
    assert.match(await found('192.0.2.10'), /Hostnames with a matching value[\s\S]*\/t\/harbor-ledger\.example/);
    const [open, whole] = [await found('example'), await found('example', { cookie })];
    assert.equal(links(open).length, 3);
    assert.match(open, /<strong>12 hostnames<\/strong> in all, 9 of them not shown/);
    assert.equal(links(whole).length, 12);
    assert.match(await found('zzzz'), /Nothing found/);
    assert.match(await found('“”'), /a letter or a digit/);
    const { headers } = await page('/search?q=example');
    assert.equal(headers['cache-control'], 'private, no-store');
    const { items, total, held_back } = await json('/search?q=example');
    assert.deepEqual([items.length, total, held_back], [3, 12, 9]);
  });

  test('a day, a number and a hash lead to their pages; opted-out names are not found', async () => {
    const { records } = stand.app.store;
    const host = records.find('fog-signal.example');
    const [first, second] = [...records.observationsOf(host?.id ?? 0)];
    const place = async (q: string) => {
      const { status, headers } = await page(`/search?q=${encodeURIComponent(q)}`);
      return status === 303 ? headers.location : status;
    };
    const there = `/t/fog-signal.example?as_of=${encodeURIComponent(first?.record.observed_at ?? '')}`;
    assert.equal(await place('2026-11-20'), '/changes/2026-11-20');
    assert.equal(await place('2026-02-30'), 200);
    for (const q of [`#${first?.seq}`, `seq ${first?.seq}`, `No. ${first?.seq}`, first?.receipt_hash ?? '']) {
      assert.equal(await place(q), there, q);
    }
    assert.match(
      second?.receipt ?? '',
      new RegExp(`prev ${first?.receipt_hash}`),
      'the hash is the one that the next names',
    );
    assert.equal((await page(there)).status, 200);
    assert.equal(await place('seq 999999999'), 200);
    assert.equal(await place('0'.repeat(64)), 200);
    records.optOut(parseHostname('fog-signal.example'), 'asked', 'test', stand.clock.now);
    assert.equal(await place(`#${first?.seq}`), 200);
    assert.equal(await place(first?.receipt_hash ?? ''), 200);
    assert.ok(!(await page('/domains', { cookie })).text.includes('fog-signal'));
  });
});
