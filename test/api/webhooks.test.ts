import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { paperDeliveries, queuePaperEvents } from '../../src/desk/jobs/paper-webhooks.ts';
import { DAY } from '../../src/proof/time.ts';
import { Dispatcher } from '../../src/shared/outbound/dispatcher.ts';
import { deskInProcess } from '../support/desk-in-process.ts';
import { storyBody } from '../support/small-papers.ts';

test('a webhook is changed, paused and resumed, and its row says how it fares', async (t) => {
  const { clock, app, api, log } = await deskInProcess(t);
  let status = 204;
  const sent: { url: string; headers: Record<string, string>; body: string }[] = [];
  const client = {
    post: async (url: string, headers: Record<string, string>, body: string) => {
      sent.push({ url, headers, body });
      return { ms: 3, status, error: status === 204 ? null : 'status' };
    },
  };
  const quiet = { attempted() {}, switchedOff() {}, unrecorded: (_: unknown, error: unknown) => assert.ifError(error) };
  const transport = {
    client,
    allowsPrivate: false,
    now: () => clock.now,
    groupCommit: async <T>(work: () => T) => app.store.database.transact(work),
  };
  const dispatcher = new Dispatcher(paperDeliveries(app), transport, quiet);
  const deliver = async () => {
    while (queuePaperEvents(app));
    dispatcher.start();
    await dispatcher.idle();
  };
  await deliver();
  const { json: made } = await api('webhooks', { body: { url: 'https://hooks.example.org/a?token=hidden' } });
  const row = async () => {
    const { json } = await api('webhooks', { method: 'GET' });
    return json.webhooks.find(({ id }: { id: string }) => id === made.id);
  };
  const air = (slug: string) => api('stories', { body: { ...storyBody(slug), air: true } });
  const at = () => new Date(clock.now).toISOString();

  await air('one');
  await deliver();
  assert.equal(sent.length, 1);
  assert.deepEqual([(await row()).succeeded_at, (await row()).failed_at, (await row()).waiting], [at(), null, 0]);
  status = 500;
  clock.now += 1_000;
  await air('two');
  await deliver();
  assert.deepEqual([(await row()).failed_at, (await row()).waiting], [at(), 1]);

  // What waits is given up, and what happens meanwhile is not sent.
  const { json: paused } = await api(`webhooks/${made.id}`, { method: 'PUT', body: { paused: true } });
  assert.deepEqual([paused.paused_at, paused.waiting], [at(), 0]);
  await air('three');
  clock.now += DAY;
  await deliver();
  assert.equal(sent.length, 2);
  const address = 'https://other.example.org/b';
  const change = { paused: false, url: address, sections: ['Tides'], cast: false };
  const { json: changed } = await api(`webhooks/${made.id}`, { method: 'PUT', body: change });
  assert.deepEqual([changed.url, changed.sections, changed.cast, changed.paused_at], [address, ['Tides'], false, null]);
  assert.equal(changed.failing_since, null);
  status = 204;
  await air('four');
  await deliver();
  assert.deepEqual([sent.length, sent.at(-1)?.url], [3, address]);

  // A new secret signs at once, and the old one beside it for a day.
  const { json: fresh } = await api(`webhooks/${made.id}/secret`);
  assert.notEqual(fresh.secret, made.secret);
  assert.equal(fresh.old_secret_until, new Date(clock.now + DAY).toISOString());
  const signed = (secret: string) => {
    const { headers, body } = sent.at(-1) ?? assert.fail();
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    const text = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
    return `v1,${createHmac('sha256', key).update(text).digest('base64')}`;
  };
  await air('five');
  await deliver();
  const header = () => sent.at(-1)?.headers['webhook-signature'];
  assert.equal(header(), `${signed(fresh.secret)} ${signed(made.secret)}`);
  assert.match(String(sent.at(-1)?.headers['X-NRF-Signature']), /^t=\d+,v1=[0-9a-f]{64}$/);
  clock.now += DAY;
  await air('six');
  await deliver();
  assert.equal(header(), signed(fresh.secret));

  const { json: wrong } = await api(`webhooks/${made.id}`, { method: 'PUT', body: { sections: ['Nowhere'] } });
  assert.equal(wrong.field, 'sections');
  assert.equal((await api('webhooks/none', { method: 'PUT', body: { paused: true } })).status, 404);
  assert.equal((await api('webhooks/none/secret')).status, 404);
  const told = (await log(`subject=${made.id}`)).reverse();
  assert.deepEqual(
    told.map(({ action, subject, detail }) => [action, subject?.title, detail]),
    [
      ['webhook.added', 'hooks.example.org', {}],
      ['webhook.changed', 'hooks.example.org', { changed: ['paused'] }],
      ['webhook.changed', 'other.example.org', { changed: ['url', 'sections', 'cast', 'paused'] }],
      ['webhook.secret', 'other.example.org', {}],
    ],
  );
});
