import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { KEYS_MAX } from '../../../../src/records/accounts/service-key.ts';
import { parseHostname } from '../../../../src/records/hostname.ts';
import { type AccountStand, accountStand, pathOf, type Visitor } from '../../../support/account-fixture.ts';
import { ask } from '../../../support/http.ts';
import { probe } from '../../../support/probes.ts';

const EMAIL = 'ada@example.org';

/** The words of a page, without its tags. */
const wordsOf = (html: string) => html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');

/** Keys, groups, export and deletion of one account, and of another that sees nothing of it. */
describe('an account', () => {
  let stand: AccountStand;
  let visitor: Visitor;
  let other: Visitor;
  const endings: (() => unknown)[] = [];
  const accountId = () => stand.app.store.records.accounts.byEmail(EMAIL)?.id ?? '';
  const keyIn = (html: string) => /drs_\w{43}/.exec(html)?.[0] ?? '';
  const usage = (key: string) => ask(stand.url, '/v1/usage', { 'x-service-key': key });

  before(async () => {
    stand = await accountStand({ after: (work) => void endings.unshift(work) }, { WATCH_DAILY: '3' });
    [visitor, other] = [await stand.signIn(EMAIL), await stand.signIn('ben@example.org')];
  });
  after(async () => {
    for (const end of endings) await end();
  });

  it('makes a key that is shown once, works, and dies when it is revoked', async () => {
    const made = await visitor.submit('/account/keys', '/account/keys', { name: 'Café <b>report</b>' });
    assert.equal(made.status, 201);
    assert.equal(made.headers['cache-control'], 'private, no-store');
    const key = keyIn(made.text);
    const list = await visitor.get('/account/keys');
    assert.match(list.text, /Café &lt;b&gt;report&lt;\/b&gt;/);
    assert.equal(keyIn(list.text), '');
    assert.equal((await usage(key)).status, 200);
    const [{ id = '' } = {}] = stand.app.store.records.serviceKeys.list(accountId());
    await other.submit('/account/keys', `/account/keys/${id}/revoke`);
    assert.equal((await usage(key)).status, 200, 'nobody revokes another’s key');
    await visitor.submit('/account/keys', `/account/keys/${id}/revoke`);
    assert.equal((await usage(key)).status, 401);
    assert.equal((await visitor.submit('/account/keys', '/account/keys', { name: ' ' })).status, 400);
    assert.equal((await visitor.submit('/account/keys', '/account/keys', { name: 'x'.repeat(61) })).status, 400);
  });

  it('makes a key that expires, and logs who created, used and revoked each', async () => {
    const { clock } = stand;
    const today = new Date(clock.now).toISOString().slice(0, 10);
    const refused = await visitor.submit('/account/keys', '/account/keys', { name: 'Late', expires_on: '2020-01-01' });
    assert.equal(refused.status, 400);
    assert.match(refused.text, /Expires_on &quot;2020-01-01&quot; has passed; give a future time/);
    const made = await visitor.submit('/account/keys', '/account/keys', { name: 'Brief', expires_on: today });
    const key = keyIn(made.text);
    assert.equal((await usage(key)).status, 200);
    const before = clock.now;
    clock.now = Date.parse(`${today}T00:00:00Z`) + 86_400_000;
    for (const at of [clock.now, before]) {
      clock.now = at;
      const { status, text, headers } = await usage(key);
      assert.deepEqual([status, JSON.parse(text).error, headers['www-authenticate']], [401, 'key_expired', 'Bearer']);
    }
    const {
      records: { serviceKeys },
    } = stand.app.store;
    const [revoked, brief] = serviceKeys.list(accountId());
    assert.match(revoked?.made_by ?? '', /^session:[0-9a-z]{26}$/);
    assert.equal(revoked?.revoked_by, revoked?.made_by);
    assert.equal(brief?.made_by, revoked?.made_by);
    const list = (await visitor.get('/account/keys')).text;
    assert.match(list, /Keys that ended \(2\)/);
    assert.match(list, /expired/);
    assert.match(list, /on these pages/);
  });

  it('has a limited number of valid keys', async () => {
    for (let n = 0; n < KEYS_MAX; n++) {
      assert.equal((await other.submit('/account/keys', '/account/keys', { name: `Key ${n}` })).status, 201);
    }
    const refused = await other.submit('/account/keys', '/account/keys', { name: 'One more' });
    assert.equal(refused.status, 400);
    assert.match(refused.text, /which is the maximum; revoke one/);
  });

  it('watches hostnames up to the limit of its plan, and explains each refusal', async () => {
    const {
      store,
      clock: { now },
    } = stand.app;
    store.records.optOut(parseHostname('quiet.example'), 'asked to', 'test', now());
    const made = await visitor.submit('/account/groups', '/account/groups', { name: 'Ours' });
    const path = pathOf(made);
    const answer = await visitor.submit(path, path, {
      hostnames: 'Shop.Example.com, müller.example\nshop.example.com. www.quiet.example 192.0.2.1 a.example b.example',
    });
    assert.match(answer.text, /3 added, 1 in the group already, 3 refused/);
    const said = wordsOf(answer.text);
    assert.match(said, /www\.quiet\.example refused its holder has opted out/);
    assert.match(said, /192\.0\.2\.1 refused .{0,50}addresses are not watched/);
    assert.match(said, /b\.example refused your plan has room for 3 hostnames/);
    assert.match(
      answer.text,
      /<textarea[^>]*>www\.quiet\.example\n192\.0\.2\.1\nb\.example<\/textarea>/,
      'what was refused stays',
    );
    for (const name of ['shop.example.com', 'xn--mller-kva.example', 'a.example']) {
      assert.equal(store.records.find(name)?.state, 'watched', name);
    }
    assert.equal(store.records.find('b.example'), null);
    // In a second group it counts once; what is taken out makes room.
    const second = pathOf(await visitor.submit('/account/groups', '/account/groups', { name: 'Two' }));
    assert.match((await visitor.submit(second, second, { hostnames: 'a.example' })).text, /1 added\./);
    await visitor.submit(path, `${path}/take`, { hostname: 'shop.example.com' });
    assert.match((await visitor.submit(path, path, { hostnames: 'b.example' })).text, /1 added\./);
    store.records.watch([parseHostname('paused.example')], now());
    store.records.pause('paused.example');
    await visitor.submit(path, `${path}/take`, { hostname: 'b.example' });
    assert.match(
      wordsOf((await visitor.submit(path, path, { hostnames: 'paused.example' })).text),
      /paused\.example refused the operator of this service has paused it/,
    );
    assert.equal(store.records.find('paused.example')?.state, 'paused');
    await visitor.submit(path, path, { hostnames: 'b.example' });
    const again = await visitor.submit('/account/groups', '/account/groups', { name: 'Ours' });
    assert.match(again.text, /There is a group &quot;Ours&quot; already|There is a group "Ours" already/);
    assert.equal((await other.get(path)).status, 404, 'another’s group is not there');
    assert.equal((await other.submit('/account/groups', path, { hostnames: 'c.example' })).status, 404);
    await other.submit('/account/groups', `${path}/remove`);
    assert.equal((await visitor.get(path)).status, 200);
  });

  it('rotating hostnames does not exceed its limit', async () => {
    const made = await other.submit('/account/groups', '/account/groups', { name: 'Churn' });
    const path = pathOf(made);
    let last = '';
    for (let n = 0; n < 13; n++) {
      last = (await other.submit(path, path, { hostnames: `churn-${n}.example` })).text;
      await other.submit(path, `${path}/take`, { hostname: `churn-${n}.example` });
    }
    assert.match(last, /You added 12 hostnames to your groups today/);
    assert.equal(stand.app.store.records.find('churn-12.example'), null);
  });

  it('exports everything stored about it, without any credentials', async () => {
    const exported = await visitor.get('/account/export.json');
    assert.match(String(exported.headers['content-disposition']), /^attachment/);
    const held = JSON.parse(exported.text);
    assert.equal(held.account.email, EMAIL);
    assert.deepEqual(
      held.keys.map(({ state }: { state: string }) => state),
      ['revoked', 'expired'],
    );
    assert.deepEqual(
      held.groups.map(({ name, hostnames }: { name: string; hostnames: unknown[] }) => [name, hostnames.length]),
      [
        ['Ours', 3],
        ['Two', 1],
      ],
    );
    assert.doesNotMatch(exported.text, /drs_|whsec_|[0-9a-f]{64}/);
    assert.equal((await ask(stand.url, '/account/export.json')).status, 303);
  });

  it('shows its usage, its credits and their ledger', async () => {
    const {
      store,
      clock: { now },
    } = stand.app;
    store.records.credits.append(accountId(), { at: now(), amount: 12_500_000, note: 'Invoice <7>' });
    const credits = await visitor.get('/account/credits');
    assert.match(credits.text, /12\.5<small>/);
    assert.match(credits.text, /Invoice &lt;7&gt;/);
    const key = store.records.serviceKeys.list(accountId())[0]?.id ?? '';
    const limits = { daily: 0, perMinute: 99 };
    const take = store.records.meter.reserve({ account: accountId(), key, at: now() }, limits);
    assert.equal(take?.outcome, 'reserved');
    const drawn = wordsOf((await visitor.get('/account/credits')).text);
    assert.match(drawn, /Balance 12\.45 .*today, so far Requests of \S+ -0\.05 12\.45 /, 'one balance');
    const usage = await visitor.get('/account/usage');
    // A column a day in each of two charts, and a bar where there is something.
    assert.equal(usage.text.match(/<rect class="reach"/g)?.length, 2 * 31);
    assert.equal(usage.text.match(/<rect class="drawn"/g)?.length, 1);
    assert.equal(usage.text.match(/<rect class="key-1"/g)?.length, 1, 'by key too');
    assert.match(wordsOf(usage.text), /X-Service-Usage-Day 1 requests counted today/);
    assert.equal((await visitor.get('/account/usage?days=7')).text.match(/<rect class="reach"/g)?.length, 2 * 7);
    if (take?.outcome === 'reserved') store.records.meter.refund(take.reservation, now(), 0);
    assert.match(wordsOf((await visitor.get('/account/usage')).text), /No request has come in 31 days/);
  });

  it('downloads exports by its session, which is not accepted by the API', async () => {
    stand.enter(probe('shop.example.com', stand.clock.now, { A: ['192.0.2.1'] }));
    const csv = await visitor.get('/account/exports/domains/shop.example.com.csv');
    assert.equal(csv.status, 200);
    assert.match(csv.text, /192\.0\.2\.1/);
    const evidence = JSON.parse((await visitor.get('/account/exports/domains/shop.example.com/evidence.json')).text);
    assert.equal(evidence.evidence, 'domain-evidence/v1');
    assert.match((await visitor.get('/account/exports/changes.csv')).text, /^seq,/);
    assert.equal((await visitor.get('/account/exports/domains/nobody.example.com.csv')).status, 404);
    assert.equal((await visitor.get('/v1/exports/domains/shop.example.com.csv')).status, 401);
    assert.equal((await ask(stand.url, '/account/exports/changes.csv')).status, 303);
    const foreign = await visitor.get('/account/exports/changes.csv', { origin: 'https://evil.example' });
    assert.equal(foreign.status, 303, 'a page of another origin is not signed in');
  });

  it('follows the link to the provenance of a hostname, by its session', async () => {
    stand.enter(probe('shop.example.com', stand.clock.now, { A: ['192.0.2.1'] }));
    stand.clock.now += 60_000;
    const page = (await visitor.get('/t/shop.example.com')).text;
    const link = /<a href="([^"]+)">provenance<\/a>/.exec(page)?.[1] ?? '';
    const { status, text, headers } = await visitor.get(link);
    assert.equal(status, 200, text);
    assert.match(String(headers['content-type']), /^application\/json/);
    const key = keyIn((await visitor.submit('/account/keys', '/account/keys', { name: 'Provenance' })).text);
    const byKey = await ask(stand.url, '/v1/domains/shop.example.com/provenance', { authorization: `Bearer ${key}` });
    assert.deepEqual(JSON.parse(text), JSON.parse(byKey.text));
    const part = await visitor.get(`${link}?limit=1`);
    const next = /<([^>]+)>; rel="next"/.exec(String(part.headers.link))?.[1] ?? '';
    assert.ok(next.startsWith(`${stand.app.settings.dataOrigin}${link}?`), next);
    assert.equal((await visitor.get(next.slice(stand.app.settings.dataOrigin.length))).status, 200);
    assert.equal((await visitor.get(`${link}?limit=many`)).status, 400);
    const stranger = await ask(stand.url, link, { accept: 'text/html' });
    assert.deepEqual([stranger.status, stranger.headers.location], [303, '/account/sign-in']);
  });

  it('pays as much for a download by its session as by a key, and nothing for one that fails', async () => {
    stand.enter(probe('shop.example.com', stand.clock.now, { A: ['192.0.2.1'] }));
    const key = keyIn((await visitor.submit('/account/keys', '/account/keys', { name: 'Downloads' })).text);
    const units = async () => JSON.parse((await usage(key)).text).today.units;
    for (const file of ['changes.csv', 'domains/shop.example.com.csv', 'domains/shop.example.com/evidence.json']) {
      const before = await units();
      const byKey = await ask(stand.url, `/v1/exports/${file}`, { authorization: `Bearer ${key}` });
      assert.equal(await units(), before + 1, `${file} by key`);
      const bySession = await visitor.get(`/account/exports/${file}`);
      assert.equal(await units(), before + 2, `${file} by session`);
      assert.equal(bySession.text, byKey.text, file);
      assert.equal(bySession.headers['x-service-usage-day'], String(before + 2), 'and is told so');
    }
    const before = await units();
    assert.equal((await visitor.get('/account/exports/domains/nobody.example.com.csv')).status, 404);
    const lured = await visitor.get('/account/exports/changes.csv', { 'sec-fetch-site': 'cross-site' });
    assert.equal(lured.status, 403, 'no other site has it charged');
    assert.equal(await units(), before);
    const { keyedPerMinute } = stand.app.settings;
    for (let n = 0; n < keyedPerMinute; n++) await visitor.get('/account/exports/domains/nobody.example.com.csv');
    const { status, headers } = await visitor.get('/account/exports/changes.csv');
    assert.equal(status, 429);
    assert.match(String(headers['retry-after']), /^\d+$/);
  });

  it('is deleted by its address alone: keys die, sessions end, rows go, observations stay', async () => {
    stand.enter(probe('shop.example.com', stand.clock.now, { A: ['192.0.2.1'] }));
    const { store } = stand.app;
    const id = accountId();
    const key = keyIn((await visitor.submit('/account/keys', '/account/keys', { name: 'Last' })).text);
    const wrong = await visitor.submit('/account/data', '/account/delete', { confirm: 'ben@example.org' });
    assert.equal(wrong.status, 400);
    assert.equal((await usage(key)).status, 200);
    const cookie = visitor.cookie;
    const gone = await visitor.submit('/account/data', '/account/delete', { confirm: ` ${EMAIL.toUpperCase()} ` });
    assert.equal(gone.status, 303);
    assert.equal((await usage(key)).status, 401);
    visitor.cookie = cookie;
    assert.equal((await visitor.get('/account')).headers.location, '/account/sign-in');
    assert.equal(store.records.accounts.byEmail(EMAIL), null);
    assert.deepEqual(store.records.serviceKeys.list(id), []);
    assert.deepEqual(store.records.watchGroups.list(id), []);
    assert.deepEqual(store.records.accountMails.ofAccount(id), []);
    assert.equal(store.records.signIns.unanswered(EMAIL, Number.MAX_SAFE_INTEGER).count, 0);
    assert.equal(store.records.credits.balance(id), 12_500_000, 'books are kept');
    assert.ok(store.records.find('shop.example.com')?.seq, 'what was seen stays');
    // The address may sign up again, and finds nothing of the old account.
    const fresh = await stand.signIn(EMAIL);
    assert.notEqual(accountId(), id);
    assert.match((await fresh.get('/account/groups')).text, /There is none yet/);
  });
});
