import assert from 'node:assert/strict';
import { test } from 'node:test';
import pino from 'pino';
import { listenRecords } from '../../../../api/server.ts';
import { ALERTS_MAX } from '../../../../src/records/accounts/change-alert.ts';
import { KEYS_MAX } from '../../../../src/records/accounts/service-key.ts';
import { GROUPS_MAX } from '../../../../src/records/accounts/watching.ts';
import { openAppContext } from '../../../../src/server/context.ts';
import { ask } from '../../../support/http.ts';
import { recordsStand } from '../../../support/records-fixture.ts';
import { send } from '../../../support/send.ts';

/** The records, served twice over one database, and what an account sends to either in turn. */
async function stand(t: { after(work: () => unknown): void }, more: Record<string, string> = {}) {
  const first = await recordsStand(t, { WATCH_DAILY: '3', ...more });
  const { app, url, clock, keyOf } = first;
  const elsewhere = openAppContext(app.settings, () => clock.now);
  const second = await listenRecords(elsewhere, pino({ level: 'silent' }));
  t.after(async () => {
    await second.close();
    elsewhere.close();
  });
  const key = keyOf('account');
  const post = async (path: string, body: object, n = 0, headers: Record<string, string> = {}) => {
    const { status, text } = await send(n % 2 === 0 ? url : second.url, {
      method: 'POST',
      path: `/v1/account/${path}`,
      headers: { 'x-service-key': key, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    return { status, body: JSON.parse(text) };
  };
  const many = (count: number, one: (n: number) => ReturnType<typeof post>) =>
    Promise.all(Array.from({ length: count }, (_, n) => one(n)));
  const get = async (path: string) => JSON.parse((await ask(url, `/v1/${path}`, { 'x-service-key': key })).text);
  return { ...first, key, post, many, get };
}

const statusesOf = (answers: { status: number }[]) => {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

test('fifty concurrent requests to two servers exceed no limit of an account', async (t) => {
  const { app, many, post, get } = await stand(t);
  const watched = await many(50, (n) => post('watch', { hostnames: [`name-${n}.example`] }, n));
  assert.deepEqual(statusesOf(watched), { 201: 3, 409: 47 });
  assert.equal(app.store.records.counts().watched, 3);
  const groups = await many(60, (n) => post('groups', { name: `Group ${n}` }, n));
  assert.deepEqual(statusesOf(groups), { 201: GROUPS_MAX - 1, 409: 60 - GROUPS_MAX + 1 }, 'one was there already');
  const keys = await many(50, (n) => post('keys', { name: `Key ${n}` }, n));
  assert.deepEqual(statusesOf(keys), { 201: KEYS_MAX - 1, 409: 50 - KEYS_MAX + 1 }, 'one sent all of this');
  const { items } = await get('account/watch');
  const alerts = await many(ALERTS_MAX + 10, (n) =>
    post('alerts', { hostname: items[0].hostname, way: 'webhook', url: `https://hooks.example.org/${n}` }, n),
  );
  assert.deepEqual(statusesOf(alerts), { 201: ALERTS_MAX, 409: 10 });
  const same = await many(20, (n) => post('alerts', { hostname: items[1].hostname, way: 'daily' }, n));
  assert.deepEqual(statusesOf(same), { 409: 20 });
  const { today, rate } = await get('usage');
  assert.deepEqual([today.units, today.refused, today.failed], [0, 0, 0], 'none of it is metered');
  assert.ok(rate.per_minute < 200, 'nor limited by the minute');
});

test('removing and adding hostnames never exceeds the plan', async (t) => {
  const { app, many, post, url, key } = await stand(t);
  const hostnames = (of: string) => [1, 2, 3].map((n) => `${of}${n}.example`);
  assert.equal((await post('watch', { hostnames: hostnames('a') })).status, 201);
  await Promise.all(
    hostnames('a').map((name) => ask(url, `/v1/account/watch/${name}`, { 'x-service-key': key }, 'DELETE')),
  );
  await many(30, (n) => post('watch', { hostnames: hostnames('bcd'[n % 3] ?? '') }, n));
  assert.equal(app.store.records.counts().watched, 3);
});

test('a retry with the same Idempotency-Key has no effect, and one-time secrets are not stored', async (t) => {
  const { app, many, post, key } = await stand(t);
  const named = { 'idempotency-key': 'once' };
  const made = await many(10, (n) => post('keys', { name: 'Laptop' }, n, named));
  assert.deepEqual(statusesOf(made), { 201: 1, 409: 9 });
  const shown = made.find(({ status }) => status === 201)?.body.key as string;
  assert.match(shown, /^drs_/);
  const groups = await many(10, (n) => post('groups', { name: 'Ours' }, n, { 'idempotency-key': 'group' }));
  assert.deepEqual(statusesOf(groups), { 201: 10 });
  assert.equal(new Set(groups.map(({ body }) => body.id)).size, 1);
  await post('watch', { hostnames: ['a.example'] });
  const hook = { hostname: 'a.example', way: 'webhook', url: 'https://hooks.example.org/' };
  const alert = await post('alerts', hook, 0, { 'idempotency-key': 'hook' });
  assert.match(alert.body.secret, /^whsec_/);
  const by =
    app.store.records.serviceKeys.list(app.store.records.accounts.byEmail('ada@example.org')?.id ?? '')[0]?.id ?? '';
  for (const name of ['once', 'group', 'hook']) {
    const kept = app.store.records.serviceAnswers.get(by, name, 0)?.body ?? assert.fail(name);
    for (const secret of [shown, alert.body.secret, key]) assert.ok(!kept.includes(secret), name);
  }
});

test('an Idempotency-Key belongs to one request, its query included', async (t) => {
  const { post, url, key, get } = await stand(t);
  await post('watch', { hostnames: ['a.example'] });
  const { body: group } = await post('groups', { name: 'Ours' });
  await post('watch', { hostnames: ['a.example'], group: group.id });
  const [first] = (await get('account/watch')).items[0].groups.filter(({ id }: { id: string }) => id !== group.id);
  const take = (id: string) => {
    const headers = { 'x-service-key': key, 'idempotency-key': 'take' };
    return ask(url, `/v1/account/watch/a.example?group=${id}`, headers, 'DELETE');
  };
  assert.equal((await take(first.id)).status, 200);
  assert.equal((await take(first.id)).status, 200, 'a retry');
  const other = await take(group.id);
  assert.deepEqual([other.status, JSON.parse(other.text).error], [422, 'idempotency_key_reused']);
});

test('a webhook has one pending test at a time', async (t) => {
  const { app, many, post } = await stand(t);
  await post('watch', { hostnames: ['a.example'] });
  const { body: alert } = await post('alerts', {
    hostname: 'a.example',
    way: 'webhook',
    url: 'https://hooks.example.org/',
  });
  const asked = await many(20, (n) => post(`alerts/${alert.id}/test`, {}, n));
  assert.deepEqual(statusesOf(asked), { 200: 1, 409: 19 });
  assert.equal(app.store.records.changeAlerts.deliveries(alert.id, 100).length, 1);
});

test('an invalid hostname is rejected with the name of its field', async (t) => {
  const { post, url, key } = await stand(t);
  const taken = await ask(url, '/v1/account/watch/a_b.example', { 'x-service-key': key }, 'DELETE');
  const alerted = await post('alerts', { hostname: 'a_b.example', way: 'daily' });
  for (const { status, body } of [{ status: taken.status, body: JSON.parse(taken.text) }, alerted]) {
    assert.deepEqual([status, body.field], [400, 'hostname']);
  }
});

test('an account that is deleted takes its keys’ routes with it, and another’s things are not there', async (t) => {
  const { app, post, url, key, keyOf } = await stand(t);
  const { body: group } = await post('groups', { name: 'Ours' });
  const other = { 'x-service-key': keyOf('account', 'ben@example.org') };
  for (const method of ['GET', 'DELETE']) {
    assert.equal((await ask(url, `/v1/account/groups/${group.id}`, other, method)).status, 404);
  }
  const account = app.store.records.accounts.byEmail('ada@example.org')?.id ?? '';
  app.store.records.accounts.remove(account);
  assert.equal((await ask(url, '/v1/account/groups', { 'x-service-key': key })).status, 401);
});
