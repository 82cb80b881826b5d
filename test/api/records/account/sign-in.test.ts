import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { REQUESTS_MAX, REQUESTS_SPAN, SIGN_IN_LIFETIME } from '../../../../src/records/accounts/sign-in.ts';
import { secretHash } from '../../../../src/shared/access-key.ts';
import { SESSION_IDLE_MAX } from '../../../../src/shared/session.ts';
import { type AccountStand, accountStand, Visitor } from '../../../support/account-fixture.ts';
import { until } from '../../../support/program.ts';
import { recordsStand } from '../../../support/records-fixture.ts';
import { send } from '../../../support/send.ts';
import { parsed } from '../../../support/smtp.ts';

describe('signing in', () => {
  let stand: AccountStand;
  const stranger = () => new Visitor(stand.url, stand.app.settings.dataOrigin);
  const endings: (() => unknown)[] = [];
  before(async () => {
    stand = await accountStand({ after: (work) => void endings.unshift(work) });
  });
  after(async () => {
    for (const end of endings) await end();
  });

  it('a mail has equal HTML and text, and fetching its link changes nothing', async () => {
    const token = await stand.linkFor('ada@example.org');
    const mail = await parsed(stand.smtp.taken.at(-1) ?? ({} as never));
    assert.equal(mail.subject, 'Your link to sign in');
    for (const body of [mail.text ?? '', mail.html ?? '']) assert.ok(body.includes(`/account/enter?token=${token}`));
    assert.ok(!JSON.stringify(stand.app.store.records.signIns.byHash(secretHash(token))).includes(token));
    for (const method of ['GET', 'HEAD', 'GET']) {
      const answer = await send(stand.url, { method, path: `/account/enter?token=${token}` });
      assert.equal(answer.status, 200);
      assert.equal(answer.headers['set-cookie'], undefined);
      assert.equal(answer.headers['referrer-policy'], 'same-origin');
    }
    assert.equal(stand.app.store.records.accounts.byEmail('ada@example.org'), null);
    assert.equal(stand.app.store.records.signIns.byHash(secretHash(token))?.used_at, null);

    const visitor = stranger();
    const entered = await visitor.post('/account/enter', { token });
    assert.equal(entered.status, 303);
    assert.equal(entered.headers.location, '/account');
    const [cookie = ''] = entered.headers['set-cookie'] ?? [];
    assert.match(cookie, /^records_session=[\w-]{43}; .*Path=\/; HttpOnly; SameSite=Lax$/);
    assert.match((await visitor.get('/account')).text, /ada@example\.org/);
  });

  it('the answer is the same with an account and without one, and each gets a mail', async () => {
    const ask = (email: string) => stranger().post('/account/sign-in', { email });
    const [known, unknown] = [await ask('ada@example.org'), await ask('nobody@example.org')];
    assert.equal(known.status, unknown.status);
    assert.equal(known.text.replaceAll('ada@', ''), unknown.text.replaceAll('nobody@', ''));
    const count = (email: string) => stand.smtp.taken.filter(({ to }) => to.includes(email)).length;
    await until(() => (count('nobody@example.org') === 1 && count('ada@example.org') === 2 ? true : null));
  });

  it('a link works once, and for 30 minutes', async () => {
    const token = await stand.linkFor('once@example.org');
    assert.equal((await stranger().post('/account/enter', { token })).status, 303);
    const again = await stranger().post('/account/enter', { token });
    assert.equal(again.status, 404);
    assert.match(again.text, /This link cannot sign you in[^<]*<[\s\S]*Send me a link/);
    assert.equal(again.headers['set-cookie'], undefined);
    const late = await stand.linkFor('late@example.org');
    stand.clock.now += SIGN_IN_LIFETIME;
    assert.equal((await stranger().get(`/account/enter?token=${late}`)).status, 404);
    assert.equal((await stranger().post('/account/enter', { token: late })).status, 404);
    assert.equal(stand.app.store.records.accounts.byEmail('late@example.org'), null);
  });

  it('a form or a link without its token names the missing field', async () => {
    const visitor = stranger();
    const said = /token is missing; open the complete link from the mail/;
    for (const answer of [await visitor.get('/account/enter'), await visitor.post('/account/enter', {})]) {
      assert.equal(answer.status, 400);
      assert.match(answer.text, said);
    }
    const origin = stand.app.settings.dataOrigin;
    const bare = { method: 'POST', headers: { origin, accept: 'application/json' } };
    const empty = await send(stand.url, { ...bare, path: '/account/enter' });
    assert.deepEqual([empty.status, JSON.parse(empty.text).field], [400, 'token']);
    for (const [query, field] of [
      ['', 'account'],
      ['?account=a', 'token'],
    ]) {
      const ends = await send(stand.url, { ...bare, path: `/account/unsubscribe${query}` });
      assert.deepEqual([ends.status, JSON.parse(ends.text).field], [400, field]);
    }
    const asked = await send(stand.url, { ...bare, path: '/account/sign-in' });
    assert.equal(asked.status, 400);
  });

  it('a link that was used takes the others of its address with it', async () => {
    const [first, second] = [await stand.linkFor('two@example.org'), await stand.linkFor('two@example.org')];
    assert.equal((await stranger().post('/account/enter', { token: second })).status, 303);
    assert.equal((await stranger().post('/account/enter', { token: first })).status, 404);
  });

  it('an address gets a limited number of links, and the response does not reveal the limit', async () => {
    const email = 'many@example.org';
    const {
      records: { signIns },
    } = stand.app.store;
    const sent = () => signIns.unanswered(email, Number.MAX_SAFE_INTEGER).count;
    for (let n = 0; n < REQUESTS_MAX + 2; n++) {
      assert.equal((await stranger().post('/account/sign-in', { email })).status, 200);
    }
    assert.equal(sent(), REQUESTS_MAX);
    stand.clock.now += REQUESTS_SPAN;
    await stranger().post('/account/sign-in', { email });
    assert.equal(sent(), REQUESTS_MAX + 1);
  });

  it('an invalid address is reported next to its field', async () => {
    const answer = await stranger().post('/account/sign-in', { email: 'a b@example' });
    assert.equal(answer.status, 400);
    assert.match(answer.text, /This address has a blank/);
  });

  it('a caller who asks too often is throttled', async (t) => {
    const own = await recordsStand(t);
    const statuses: number[] = [];
    for (let n = 0; n < 21; n++) {
      const visitor = new Visitor(own.url, own.app.settings.dataOrigin);
      statuses.push((await visitor.post('/account/sign-in', { email: 'x' })).status);
    }
    assert.deepEqual([...new Set(statuses.slice(0, 20))], [400]);
    assert.equal(statuses.at(-1), 429);
  });
});

describe('a session', () => {
  it('extends with use, expires, and ends by signing out here or everywhere', async (t) => {
    const stand = await accountStand(t);
    const [one, two] = [await stand.signIn('ada@example.org'), await stand.signIn('ada@example.org')];
    stand.clock.now += SESSION_IDLE_MAX - 1;
    const used = await one.get('/account');
    assert.equal(used.status, 200);
    assert.match(String(used.headers['set-cookie']), /Max-Age=2592000/);
    stand.clock.now += 1;
    assert.equal((await two.get('/account')).headers.location, '/account/sign-in');
    assert.equal((await one.get('/account')).status, 200);

    const three = await stand.signIn('ada@example.org');
    const kept = one.cookie;
    assert.equal((await one.submit('/account', '/account/sign-out')).status, 303);
    assert.equal(one.cookie, '');
    one.cookie = kept;
    assert.equal((await one.get('/account')).status, 303, 'a cookie that was kept is worth nothing');
    const four = await stand.signIn('ada@example.org');
    await four.submit('/account', '/account/sign-out', { everywhere: 'yes' });
    assert.equal((await three.get('/account')).status, 303);
  });

  it('is the host’s own over TLS', async (t) => {
    const stand = await accountStand(t, { DATA_ORIGIN: 'https://records.example' });
    const visitor = new Visitor(stand.url, 'https://records.example');
    const entered = await visitor.post('/account/enter', { token: await stand.linkFor('ada@example.org') });
    assert.match(
      String(entered.headers['set-cookie']),
      /^__Host-session=[\w-]{43}; .*Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    assert.equal((await visitor.get('/account')).status, 200);
  });

  it('opens pages but no API route, and rejects forms of other pages', async (t) => {
    const stand = await accountStand(t);
    const visitor = await stand.signIn('ada@example.org');
    const form = /name="form" value="([^"]+)"/.exec((await visitor.get('/account/keys')).text)?.[1] ?? '';
    const keys = () =>
      stand.app.store.records.serviceKeys.list(stand.app.store.records.accounts.byEmail('ada@example.org')?.id ?? '');
    const page = { form, name: 'A key' };
    const foreign: [string, Record<string, string>, Record<string, string>][] = [
      ['of another origin', page, { origin: 'https://evil.example' }],
      ['of no origin', page, { origin: 'null' }],
      ['that a browser calls foreign', page, { 'sec-fetch-site': 'cross-site' }],
      ['that a browser calls a neighbour’s', page, { 'sec-fetch-site': 'same-site' }],
      ['without a token', { name: 'A key' }, {}],
      ['with another’s token', { ...page, form: `${form.slice(0, -2)}zz` }, {}],
    ];
    for (const [what, fields, headers] of foreign) {
      assert.equal((await visitor.post('/account/keys', fields, headers)).status, 403, `a form ${what}`);
    }
    const bare = await send(stand.url, {
      method: 'POST',
      path: '/account/keys',
      headers: { cookie: visitor.cookie, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(page).toString(),
    });
    assert.equal(bare.status, 403, 'a form that says no origin at all');
    const json = await visitor.post('/account/keys', page, { 'content-type': 'text/plain' });
    assert.equal(json.status, 415);
    assert.equal(keys().length, 0);
    const login = await new Visitor(stand.url, 'https://evil.example').post('/account/enter', {
      token: await stand.linkFor('mallory@example.org'),
    });
    assert.equal(login.status, 403, 'nobody is signed in as somebody else from elsewhere');

    const health = await visitor.get('/v1/usage');
    assert.ok([401, 404].includes(health.status), 'a cookie is no key');
    const account = await visitor.get('/account');
    assert.equal(account.headers['access-control-allow-origin'], undefined);
    assert.equal(account.headers['cache-control'], 'private, no-store');
  });
});
