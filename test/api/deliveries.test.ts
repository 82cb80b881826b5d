import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import pino from 'pino';
import { Webhook } from 'standardwebhooks';
import { paperWebhooks } from '../../src/desk/jobs/paper-webhooks.ts';
import { makePaperKey } from '../../src/desk/papers/paper-keys.ts';
import { LEASE_TIME } from '../../src/shared/outbound/dispatcher.ts';
import { deliveryTransport, startWebhooks } from '../../src/shared/outbound/webhook-job.ts';
import { appContextIn, createPaper, filing, PAPER, tempFolder } from '../support/app-context.ts';
import type { Answer } from '../support/http.ts';
import { serve, until } from '../support/program.ts';
import { receiver } from '../support/receiver.ts';
import { send } from '../support/send.ts';
import { serveHere } from '../support/serve-here.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const ALLOW = { WEBHOOK_PRIVATE: 'allow' };

interface Row {
  id: string;
  type: string;
  webhook_id: string;
  webhook: { id: string; host: string; of: string; off_at: string | null; off_reason: string | null };
  state: string;
  attempts: { at: string; status: number | null; ms: number; error: string | null }[];
  next_attempt_at: string | null;
}

/** A served paper, and ways to ask of it. */
const stand = (t: TestContext, more?: Record<string, string>) => standWith(serveHere, t, more);

async function standWith<Served extends { url: string }>(
  serves: (t: TestContext, folder: string, more: Record<string, string>) => Promise<Served>,
  t: TestContext,
  more: Record<string, string> = ALLOW,
) {
  // The folder goes last: a server that still writes into it would be in the way.
  const later: (() => void)[] = [];
  const folder = tempFolder({ after: (work) => void later.push(work) });
  const app = appContextIn(t, folder, { now: Date.now() }, more);
  createPaper(app);
  const key = (level: string) => makePaperKey(app, PAPER, { level, name: level }).key;
  const keys: Record<string, string> = { admin: key('admin'), read: key('read') };
  const serving = await serves(t, folder, more).finally(() =>
    t.after(() => {
      for (const work of later) work();
    }),
  );
  const ask = (method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> =>
    send(serving.url, {
      method,
      path: `/${PAPER}/api/v1/${path}`,
      headers: { authorization: `Bearer ${keys.admin}`, ...headers },
      ...(body === undefined ? {} : { body }),
    });
  const json = async <T>(answer: Promise<Answer>, status = 200): Promise<T> => {
    const { status: got, text } = await answer;
    assert.equal(got, status, text);
    return JSON.parse(text) as T;
  };
  const deliveries = async () => (await json<{ deliveries: Row[] }>(ask('GET', 'deliveries'))).deliveries;
  const air = (slug: string) => {
    const { persona, language: _l, correction: _c, revised_at: _r, provenance: _p, ...piece } = filing(slug);
    return json(ask('POST', 'stories', { ...piece, byline: persona, air: true }), 201);
  };
  return { ...serving, folder, app, keys, ask, json, deliveries, air };
}

test('a receiver is added, notified, tested, notified again and removed', async (t) => {
  const { ask, json, deliveries, air } = await stand(t);
  const at = await receiver(t);
  const body = { url: at.url, sections: ['City'] };
  const named = { 'idempotency-key': 'one' };
  const adding = await ask('POST', 'webhooks', body, named);
  const made = await json<{ id: string; secret: string }>(Promise.resolve(adding), 201);
  assert.match(adding.headers.location ?? '', new RegExp(`/api/v1/webhooks/${made.id}$`));
  assert.match(made.secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  const again = await json<{ id: string; secret: string }>(ask('POST', 'webhooks', body, named), 201);
  assert.deepEqual([again.id, again.secret], [made.id, made.secret]);
  const { text } = await ask('GET', 'webhooks');
  assert.ok(!text.includes(made.secret), 'the list has no secret');
  const [listed] = (JSON.parse(text) as { webhooks: { url: string; cast: boolean; sections: string[] }[] }).webhooks;
  assert.deepEqual([listed?.url, listed?.sections, listed?.cast], [at.url, ['City'], true]);

  await air('tide');
  const told = await until(() => at.got[0] ?? null);
  const message = new Webhook(made.secret).verify(told.body, told.headers as Record<string, string>) as {
    type: string;
    data: { slug: string; byline: { declared_ai: boolean } };
  };
  assert.deepEqual([message.type, message.data.slug, message.data.byline.declared_ai], ['story.aired', 'tide', true]);
  assert.match(String(told.headers['x-nrf-signature']), /^t=\d+,v1=[0-9a-f]{64}$/);
  assert.match(String(told.headers['user-agent']), /^Broadsheet\//);
  const row = await until(async () => (await deliveries()).find(({ state }) => state === 'delivered') ?? null);
  assert.deepEqual(
    [row.type, row.webhook, row.webhook_id, row.next_attempt_at],
    [
      'story.aired',
      { id: made.id, host: `127.0.0.1:${at.port}`, of: 'desk', off_at: null, off_reason: null },
      told.headers['webhook-id'],
      null,
    ],
  );
  assert.deepEqual(
    row.attempts.map(({ status, error }) => [status, error]),
    [[204, null]],
  );

  const retried = await json<Row>(ask('POST', `deliveries/${row.id}/retry`));
  assert.equal(retried.state, 'waiting');
  const replay = await until(() => at.got[1] ?? null);
  assert.equal(replay.body, told.body);
  assert.equal(replay.headers['webhook-id'], told.headers['webhook-id']);
  new Webhook(made.secret).verify(replay.body, replay.headers as Record<string, string>);

  at.answer = (_request, response) => response.writeHead(410).end();
  const tried = await json<Row>(ask('POST', `webhooks/${made.id}/test`));
  assert.equal(tried.type, 'webhook.test');
  const off = await until(async () => (await deliveries()).find(({ webhook }) => webhook.off_at !== null) ?? null);
  assert.equal(off.webhook.off_reason, 'gone');
  assert.equal(
    (await json<{ webhooks: { off_reason: string }[] }>(ask('GET', 'webhooks'))).webhooks[0]?.off_reason,
    'gone',
  );

  await json(ask('DELETE', `webhooks/${made.id}`));
  assert.deepEqual(await deliveries(), []);
  await json(ask('DELETE', `webhooks/${made.id}`), 404);
  await json(ask('POST', `webhooks/${made.id}/test`), 404);
  await json(ask('POST', 'deliveries/nonsense/retry'), 404);
});

test('the webhook of a confirmed subscriber is notified, an unconfirmed one’s is not', async (t) => {
  const { ask, json, deliveries, air, app } = await stand(t);
  const at = await receiver(t);
  const emails = ['one@example.org', 'two@example.org'];
  const order = { emails, webhook: at.url, sections: ['City'] };
  const { results } = await json<{ results: { webhook_secret: string }[] }>(ask('POST', 'subscribers', order));
  const [row] = app.store.desk.readers.subscribers.list(PAPER, { limit: 9 });
  assert.ok(row);
  app.store.desk.readers.subscribers.put({ ...row, confirmed_at: Date.now() });
  await air('tide');
  const got = await until(() => at.got[0] ?? null);
  const secret = results[emails.indexOf(row.email)]?.webhook_secret ?? '';
  new Webhook(secret).verify(got.body, got.headers as Record<string, string>);
  const [delivery] = await until(async () => {
    const rows = await deliveries();
    return rows.every(({ state }) => state === 'delivered') ? rows : null;
  });
  assert.deepEqual([delivery?.webhook.of, delivery?.webhook.id], ['subscriber', row.id]);
  assert.equal((await deliveries()).length, 1);

  const { subscribers } = await json<{ subscribers: { email: string; webhook_id?: string }[] }>(
    ask('GET', 'subscribers'),
  );
  const ids = new Map(subscribers.map(({ email, webhook_id }) => [email, webhook_id]));
  await json(ask('POST', `webhooks/${ids.get(row.email)}/test`));
  const tried = await until(() => at.got.find(({ body }) => body.includes('webhook.test')) ?? null);
  new Webhook(secret).verify(tried.body, tried.headers as Record<string, string>);
  const [other = ''] = emails.filter((email) => email !== row.email);
  await json(ask('POST', `webhooks/${ids.get(other)}/test`), 404);

  // Taken away it is told nothing more; given anew it has another secret.
  const again = { emails: [row.email], webhook: at.url };
  await json(ask('POST', 'subscribers', { ...again, webhook: null }));
  await json(ask('POST', `webhooks/${row.id}/test`), 404);
  const [given] = (await json<{ results: { webhook_secret: string }[] }>(ask('POST', 'subscribers', again))).results;
  assert.match(given?.webhook_secret ?? '', /^whsec_/);
  assert.notEqual(given?.webhook_secret, secret);

  await json(ask('DELETE', `subscribers/${row.email}`));
  assert.deepEqual(await deliveries(), []);
});

test('only admins reach the routes; malformed requests name the fault; private receivers are rejected', async (t) => {
  const { ask, keys, air } = await stand(t, {});
  for (const [method, path] of [
    ['GET', 'webhooks'],
    ['POST', 'webhooks'],
    ['DELETE', 'webhooks/x'],
    ['POST', 'webhooks/x/test'],
    ['GET', 'deliveries'],
    ['POST', 'deliveries/x/retry'],
  ] as const) {
    const body = method === 'POST' ? {} : undefined;
    assert.equal((await ask(method, path, body, { authorization: '' })).status, 401, `${method} ${path}`);
    const { status } = await ask(method, path, body, { authorization: `Bearer ${keys.read}` });
    assert.equal(status, 403, `${method} ${path}`);
  }
  for (const [body, field] of [
    [{}, 'url'],
    [{ url: 7 }, 'url'],
    [{ url: 'http://hooks.example.org/' }, 'url'],
    [{ url: 'https://127.0.0.1/' }, 'url'],
    [{ url: 'https://[::ffff:10.0.0.1]/' }, 'url'],
    [{ url: 'https://user:secret@hooks.example.org/' }, 'url'],
    [{ url: 'https://hooks.example.org/', sections: ['Sports'] }, 'sections'],
    [{ url: 'https://hooks.example.org/', sections: [] }, 'sections'],
    [{ url: 'https://hooks.example.org/', cast: 'yes' }, 'cast'],
  ] as const) {
    const { status, text } = await ask('POST', 'webhooks', body);
    assert.deepEqual([status, (JSON.parse(text) as { field: string }).field], [400, field], text);
  }
  assert.equal((await ask('GET', 'deliveries?cursor=nonsense')).status, 400);
  await air('tide');
  assert.equal((JSON.parse((await ask('GET', 'deliveries')).text) as { count: number }).count, 0);
});

test('the list of deliveries is paginated, newest first', { skip: ONLY_WIDE }, async (t) => {
  const { ask, json, deliveries } = await stand(t);
  const at = await receiver(t);
  const { id } = await json<{ id: string }>(ask('POST', 'webhooks', { url: at.url }), 201);
  const made: string[] = [];
  for (let n = 0; n < 5; n++) made.unshift((await json<Row>(ask('POST', `webhooks/${id}/test`))).id);
  assert.deepEqual(
    (await deliveries()).map((row) => row.id),
    made,
  );
  const seen: string[] = [];
  let cursor = '';
  do {
    const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const page = await json<{ deliveries: Row[]; next_cursor: string | null }>(
      ask('GET', `deliveries?limit=2${query}`),
    );
    seen.push(...page.deliveries.map((row) => row.id));
    cursor = page.next_cursor ?? '';
  } while (cursor !== '');
  assert.deepEqual(seen, made);

  const other = await json<{ id: string }>(ask('POST', 'webhooks', { url: 'http://127.0.0.1:1/' }), 201);
  const { id: lost } = await json<Row>(ask('POST', `webhooks/${other.id}/test`));
  const listed = async (query: string) => {
    const page = await json<{ deliveries: Row[] }>(ask('GET', `deliveries?${query}`));
    return page.deliveries.map((row) => row.id);
  };
  await until(async () => ((await listed('state=waiting')).length === 0 ? true : null));
  assert.deepEqual(await listed('state=failed'), [lost]);
  assert.deepEqual(await listed(`state=delivered&webhook=${id}`), made);
  assert.deepEqual(await listed(`state=delivered&webhook=${other.id}`), []);
  const first = await ask('GET', `deliveries?webhook=${id}&limit=2`);
  assert.match(String(first.headers.link), new RegExp(`webhook=${id}`), 'the next page is of the same');
  await json(ask('GET', 'deliveries?state=lost'), 400);
});

test('a server killed between sending and noting sends again, the same under the same id', {
  skip: ONLY_WIDE,
}, async (t) => {
  const { ask, json, air, child, ended, folder } = await standWith(serve, t);
  const at = await receiver(t);
  const { secret } = await json<{ secret: string }>(ask('POST', 'webhooks', { url: at.url }), 201);
  at.answer = () => {};
  await air('tide');
  const first = await until(() => at.got[0] ?? null);
  child.kill('SIGKILL');
  await ended;
  at.answer = (_request, response) => response.writeHead(200).end('ok');
  // The next one comes when the lease of the dead has ended.
  const clock = { now: Date.now() };
  const app = appContextIn(t, folder, clock, ALLOW);
  const stop = startWebhooks(app, paperWebhooks(app), deliveryTransport(app, 'Broadsheet'), pino({ level: 'silent' }));
  t.after(() => void stop());
  await new Promise((resolve) => setTimeout(resolve, 600));
  assert.equal(at.got.length, 1, 'not before');
  clock.now += LEASE_TIME;
  const second = await until(() => at.got[1] ?? null);
  assert.equal(second.body, first.body);
  assert.equal(second.headers['webhook-id'], first.headers['webhook-id']);
  new Webhook(secret).verify(second.body, second.headers as Record<string, string>);
  const [row] = await until(() => {
    const rows = app.store.desk.deliveries.list(PAPER, { limit: 9 });
    return rows.every(({ state }) => state === 'delivered') ? rows : null;
  });
  assert.equal(row?.attempts.length, 1);
  await stop();
});

test('SIGTERM lets a running request finish and records its outcome', { skip: ONLY_WIDE }, async (t) => {
  const { ask, json, air, stop, app } = await stand(t);
  const at = await receiver(t);
  await json(ask('POST', 'webhooks', { url: at.url }), 201);
  let waiting: ServerResponse | null = null;
  at.answer = (_request, response) => {
    waiting = response;
  };
  await air('tide');
  const response = await until(() => waiting);
  const ended = stop();
  await new Promise((resolve) => setTimeout(resolve, 300));
  response.writeHead(200).end();
  assert.equal((await ended).code, 0);
  const [row] = app.store.desk.deliveries.list(PAPER, { limit: 9 });
  assert.deepEqual([row?.state, row?.attempts.length], ['delivered', 1]);
});
