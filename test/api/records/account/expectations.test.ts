import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { verifyNode } from '../../../../src/proof/ed25519.ts';
import { checkReceipt } from '../../../../src/proof/records/verify/document-faults.ts';
import { MAIL_EVERY } from '../../../../src/records/accounts/change-queue.ts';
import { type AccountStand, accountStand, type Visitor } from '../../../support/account-fixture.ts';
import { Contract, type Document } from '../../../support/contract.ts';
import { ask } from '../../../support/http.ts';
import { probe } from '../../../support/probes.ts';
import { until } from '../../../support/program.ts';
import { receiver } from '../../../support/receiver.ts';
import { send } from '../../../support/send.ts';
import { parsed } from '../../../support/smtp.ts';
import { webhookMismatch } from '../../../support/webhook-contract.ts';

const EMAIL = 'ada@example.org';
const NAME = 'www.example.com';
const HOUR = 3_600_000;

async function expectingStand(t: { after(work: () => unknown): void }) {
  const stand = await accountStand(t, { WEBHOOK_PRIVATE: 'allow' });
  const see = (A: string[]) => stand.enter(probe(NAME, stand.clock.now + 1_000, { A, TXT: ['v=spf1 -all'] }));
  see(['192.0.2.1']);
  const visitor = await stand.signIn(EMAIL);
  const key = { 'x-service-key': stand.keyOf('account', EMAIL) };
  const call = async (method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
    const { status, text } = await send(stand.url, { method, path, headers: { ...key, ...type, ...headers }, ...sent });
    return { status, body: JSON.parse(text) };
  };
  return { ...stand, see, visitor, call };
}

const alert = (visitor: Visitor, fields: Record<string, string>) =>
  visitor.submit('/account/alerts', '/account/alerts', {
    group: '',
    hostname: NAME,
    way: 'instant',
    url: '',
    ...fields,
  });

async function mailsOf({ smtp }: Pick<AccountStand, 'smtp'>, count: number) {
  const mails = () => smtp.taken.filter(({ raw }) => /^list-id: <changes\./im.test(raw.toString()));
  await until(() => (mails().length >= count ? true : null));
  return Promise.all(mails().map(parsed));
}

describe('expectations', () => {
  it('are told by mail and webhook, in place of the changes; a plan that is done is quiet', async (t) => {
    const stand = await expectingStand(t);
    const { clock, see, visitor, call, app } = stand;
    const hook = await receiver(t);
    assert.equal((await alert(visitor, {})).status, 303);
    assert.equal((await alert(visitor, { way: 'webhook', url: hook.url })).status, 201);
    const put = await call('PUT', '/v1/account/expectations', { names: { [NAME]: { A: { values: ['192.0.2.1'] } } } });
    assert.partialDeepStrictEqual(put, {
      status: 200,
      body: {
        total: 1,
        items: [{ hostname: NAME, signal: 'A', state: 'expected', is_alerted: true }],
        plans: [],
        events: [],
      },
    });
    see(['192.0.2.9']);
    const [loud] = await mailsOf(stand, 1);
    assert.equal(loud?.subject, `${NAME} is not as expected`);
    for (const text of [loud?.text ?? '', loud?.html ?? '']) {
      assert.match(text, /A is not as expected: 192\.0\.2\.9 instead of 192\.0\.2\.1/);
      assert.doesNotMatch(text, /A changed/);
    }
    see(['192.0.2.9']);
    clock.now += MAIL_EVERY;
    see(['192.0.2.1']);
    const [, calm] = await mailsOf(stand, 2);
    assert.equal(calm?.subject, `${NAME} is as expected again`);

    // A change that was announced: the webhook has its proof, and no mail tells it.
    const until_ = new Date(clock.now + HOUR).toISOString();
    const body = { names: { [NAME]: { A: { values: ['192.0.2.2'] } } }, until: until_, note: 'commit 1a2b3c' };
    const idem = { 'idempotency-key': 'deploy-1' };
    const planned = await call('POST', '/v1/account/expectations', body, idem);
    assert.equal(planned.status, 201);
    assert.deepEqual(await call('POST', '/v1/account/expectations', body, idem), planned, 'sent again, it is the same');
    const clash = await call('POST', '/v1/account/expectations', body);
    assert.partialDeepStrictEqual(clash, { status: 409, body: { error: 'conflict', plan: planned.body.id } });
    see(['192.0.2.2']);
    await until(() => (hook.got.length >= 3 ? true : null));
    const kinds = hook.got.map((got) => JSON.parse(got.body).type);
    assert.deepEqual(kinds, ['domain.unexpected', 'domain.as_expected', 'domain.done_as_planned']);
    const { data } = JSON.parse(hook.got.at(-1)?.body ?? '');
    assert.equal(data.event.plan, planned.body.id);
    const keys = app.store.desk.verifyingKeys('records');
    const { receipt } = checkReceipt(data.event.receipt, keys, verifyNode, []);
    assert.equal(receipt?.domain, NAME);
    assert.equal(receipt?.seq, data.event.observation_seq);
    const read = await call('GET', `/v1/account/expectations/${planned.body.id}`);
    assert.partialDeepStrictEqual(read.body.items, [{ state: 'done', receipt: data.event.receipt }]);

    // A change of another type has its ordinary alert; a window that ends is told once.
    clock.now += MAIL_EVERY;
    stand.enter(probe(NAME, clock.now + 1_000, { A: ['192.0.2.2'], TXT: ['v=spf1 mx -all'] }));
    const [, , other] = await mailsOf(stand, 3);
    assert.equal(other?.subject, `${NAME} changed`);
    const next = {
      ...body,
      names: { [NAME]: { A: { values: ['192.0.2.3'] } } },
      until: new Date(clock.now + HOUR).toISOString(),
    };
    assert.equal((await call('POST', '/v1/account/expectations', next)).status, 201);
    clock.now += HOUR;
    see(['192.0.2.2']);
    const [, , , missed] = await mailsOf(stand, 4);
    assert.equal(missed?.subject, `${NAME} did not change as planned`);
    await until(() => (hook.got.length >= 5 ? true : null));
    const contract = new Contract(JSON.parse((await ask(stand.url, '/v1/openapi.json')).text) as Document);
    for (const received of hook.got) assert.equal(webhookMismatch(contract, received), null, received.body);
    assert.equal((await call('GET', '/v1/account/expectations')).body.events.length, 4);
    assert.partialDeepStrictEqual((await call('DELETE', '/v1/account/expectations')).body, {
      expectations: 1,
      plans: 2,
    });
  });

  it('are told of no name that opted out before they were queued', async (t) => {
    const { clock, see, visitor, call, app } = await expectingStand(t);
    const hook = await receiver(t);
    assert.equal((await alert(visitor, { way: 'webhook', url: hook.url })).status, 201);
    await call('PUT', '/v1/account/expectations', { names: { [NAME]: { A: { values: ['192.0.2.1'] } } } });
    app.store.records.transact(() => {
      see(['192.0.2.9']);
      app.store.records.optOut({ hostname: NAME, registrable_domain: 'example.com' }, 'asked', 'test', clock.now);
    });
    await until(() => (app.store.records.expectations.isQueueing() ? null : true));
    const [{ id } = { id: '' }] = app.store.records.changeAlerts.list(
      app.store.records.accounts.byEmail(EMAIL)?.id ?? '',
    );
    assert.deepEqual(app.store.records.changeAlerts.deliveries(id, 10), []);
  });

  it('are declared on a page, whose problems stand beside the form', async (t) => {
    const { visitor, see, call, clock } = await expectingStand(t);
    const path = '/account/expectations';
    assert.match((await visitor.get(path)).text, /There is nothing yet/);
    const set = (document: string) => visitor.submit(path, path, { document });
    const wrong = await set(
      'names:\n  www.example.com:\n    A: { values: ["<b>"] }\n    AAAA: { prefixes: ["::/0"] }\n  other.example: { A: { values: [] } }',
    );
    assert.equal(wrong.status, 400);
    for (const words of [
      /<code>names\.www\.example\.com\.A\.values\[0\]<\/code> (?:&quot;|&#34;|")&lt;b&gt;/,
      /match every address/,
      /<code>names\.other\.example<\/code>[^<]*is not under watch/,
      /AAAA: \{ prefixes: \[/,
    ]) {
      assert.match(wrong.text, words);
    }
    const made = await set(
      'names: { www.example.com: { A: { values: [192.0.2.1] }, TXT: { prefixes: ["v=spf1 "] } } }',
    );
    assert.equal(made.status, 303);
    see(['192.0.2.9']);
    const until_ = new Date(clock.now + HOUR).toISOString();
    const plan = { names: { [NAME]: { TXT: { values: ['x'] } } }, until: until_ };
    const { body } = await call('POST', '/v1/account/expectations', plan);
    const shown = (await visitor.get(path)).text;
    for (const words of [
      /You have no alert/,
      /not as expected/,
      /as expected<\/span>/,
      /Planned changes/,
      /192\.0\.2\.9 instead of 192\.0\.2\.1/,
    ]) {
      assert.match(shown, words);
    }
    assert.equal((await visitor.submit(path, `${path}/plans/${body.id}/remove`)).status, 303);
    assert.doesNotMatch((await visitor.get(path)).text, /Planned changes/);
    assert.equal((await visitor.submit(path, `${path}/remove`)).status, 303);
    assert.match((await visitor.get(path)).text, /There is nothing yet/);
  });

  it('a change is announced on the page, whose problems stand beside its field, and can be taken back', async (t) => {
    const { visitor, see, call, app, clock } = await expectingStand(t);
    const path = '/account/expectations';
    const plan = (fields: Record<string, string>) =>
      visitor.submit(path, `${path}/plans`, {
        hostname: NAME,
        signal: 'A',
        values: '',
        hours: '6',
        note: '',
        ...fields,
      });
    for (const [fields, id, words] of [
      [{ hostname: 'other.example' }, 'plan-hostname', /is not under watch/],
      [{ hostname: 'a b' }, 'plan-hostname', /a b/],
      [{ values: '<b>\n192.0.2.2' }, 'plan-values', /&lt;b&gt;[^<]*is not a value of A/],
      [{ signal: 'XYZ' }, 'plan-signal', /is not a type/],
      [{ hours: '999' }, 'plan-hours', /is not a window/],
      [{ note: 'x'.repeat(201) }, 'plan-note', /200/],
    ] as const) {
      const { status, text } = await plan(fields);
      assert.equal(status, 400, text);
      const problem = new RegExp(`<p id="${id}-problem"[^>]*>([^<]*)`).exec(text)?.[1] ?? '';
      assert.match(problem, words);
      if ('values' in fields) assert.match(text, /<textarea[^>]*>&lt;b&gt;\n192\.0\.2\.2/);
    }
    const made = await plan({ values: ' 192.0.2.3\r\n\r\n192.0.2.2 ', note: 'move <the> web server' });
    assert.equal(made.status, 303, made.text);
    const said = (await visitor.get(String(made.headers.location))).text;
    assert.match(said, /is announced/);
    const { plans } = (await call('GET', '/v1/account/expectations')).body;
    assert.partialDeepStrictEqual(plans, [
      {
        until: new Date(clock.now + 6 * HOUR).toISOString(),
        note: 'move <the> web server',
        items: [{ hostname: NAME, signal: 'A', expected: { values: ['192.0.2.2', '192.0.2.3'] }, state: 'waiting' }],
      },
    ]);
    const twice = await plan({ values: '192.0.2.4' });
    assert.deepEqual([twice.status, /<p id="plan-problem"[^>]*>[^<]*is of the same/.test(twice.text)], [400, true]);
    const undo = /<form action="([^"]+plans[^"]+remove)"/.exec(said)?.[1] ?? '';
    assert.equal((await visitor.submit(path, undo)).status, 303);
    assert.equal((await plan({ signal: 'CERTIFICATE', values: "Let's Encrypt" })).status, 303);
    assert.equal((await plan({ signal: 'AAAA' })).status, 303);
    see(['192.0.2.1']);
    const lines = (await call('GET', path.replace('/', '/v1/'))).body.events.map(({ line }: { line: string }) => line);
    assert.deepEqual(lines, [`${NAME} AAAA changed as planned: no records`]);
    assert.equal(app.store.records.expectations.plans(app.store.records.accounts.byEmail(EMAIL)?.id ?? '').length, 2);
  });

  it('of an account are its own, and go with it', async (t) => {
    const { call, app, visitor, signIn, keyOf, url } = await expectingStand(t);
    await call('PUT', '/v1/account/expectations', { names: { [NAME]: { A: { values: ['192.0.2.7'] } } } });
    const until_ = new Date(app.clock.now() + HOUR).toISOString();
    const { body } = await call('POST', '/v1/account/expectations', {
      names: { [NAME]: { A: { values: [] } } },
      until: until_,
    });
    const other = { 'x-service-key': keyOf('account', 'ben@example.org') };
    assert.equal(JSON.parse((await ask(url, '/v1/account/expectations', other)).text).total, 0);
    assert.equal((await ask(url, `/v1/account/expectations/${body.id}`, other)).status, 404);
    const stranger = await signIn('ben@example.org');
    await stranger.submit('/account/expectations', `/account/expectations/plans/${body.id}/remove`);
    assert.equal((await call('GET', `/v1/account/expectations/${body.id}`)).status, 200);
    const exported = JSON.parse((await visitor.get('/account/export.json')).text);
    assert.partialDeepStrictEqual(exported, {
      expectations: [{ hostname: NAME, state: 'unexpected', seen: ['192.0.2.1'] }],
      planned_changes: [{ id: body.id }],
      expectation_events: [{ kind: 'unexpected' }],
    });
    await visitor.submit('/account/data', '/account/delete', { email: EMAIL, address: EMAIL, confirm: EMAIL });
    assert.equal(app.store.records.accounts.byEmail(EMAIL), null);
    assert.deepEqual(app.store.records.expectations.ofHostname(NAME), []);
  });
});
