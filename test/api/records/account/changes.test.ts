import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import { MAIL_EVERY, queueChangeMails, queueChanges } from '../../../../src/records/accounts/change-queue.ts';
import { deltaSource } from '../../../../src/records/jobs/records-webhooks.ts';
import { newId } from '../../../../src/shared/new-id.ts';
import { type AccountStand, accountStand, pathOf, Visitor } from '../../../support/account-fixture.ts';
import { Contract, type Document } from '../../../support/contract.ts';
import { ask } from '../../../support/http.ts';
import { probe } from '../../../support/probes.ts';
import { until } from '../../../support/program.ts';
import { receiver } from '../../../support/receiver.ts';
import { recordsStand } from '../../../support/records-fixture.ts';
import { parsed, refusal } from '../../../support/smtp.ts';
import { webhookMismatch } from '../../../support/webhook-contract.ts';
import { ONLY_WIDE } from '../../../support/wide.ts';

const EMAIL = 'ada@example.org';
const DAY = 86_400_000;

/** Makes a group with hostnames in it, through its pages; gives its id. */
async function groupOf(visitor: Visitor, name: string, ...hostnames: string[]): Promise<string> {
  const made = await visitor.submit('/account/groups', '/account/groups', { name });
  const path = pathOf(made);
  assert.equal((await visitor.submit(path, path, { hostnames: hostnames.join('\n') })).status, 200);
  return path.split('/').at(-1) ?? '';
}

function alert(visitor: Visitor, fields: Record<string, string>) {
  const all = { group: '', hostname: '', way: 'instant', url: '', ...fields };
  return visitor.submit('/account/alerts', '/account/alerts', all);
}

/** Mails of changes, as they were taken, each with the lines of its text. */
async function changeMails({ smtp }: AccountStand, count: number) {
  const mails = () => smtp.taken.filter(({ raw }) => /^list-id: <changes\./im.test(raw.toString()));
  await until(() => (mails().length >= count ? true : null));
  return Promise.all(mails().map(parsed));
}

/** Waits until the jobs have looked again, twice. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 550));

describe('alerts by mail', () => {
  it('report each change once across alerts, with a minimum interval', async (t) => {
    const stand = await accountStand(t);
    const { clock } = stand;
    stand.enter(probe('www.example.com', clock.now, { A: ['192.0.2.1'] }));
    const visitor = await stand.signIn(EMAIL);
    const group = await groupOf(visitor, 'Ours', 'www.example.com', 'mail.example.com');
    const [one, two, three] = [
      await alert(visitor, { group }),
      await alert(visitor, { hostname: 'WWW.example.com.' }),
      await alert(visitor, { group, way: 'daily' }),
    ];
    assert.deepEqual([one.status, two.status, three.status], [303, 303, 303]);

    stand.enter(probe('www.example.com', clock.now + 1_000, { A: ['192.0.2.2'], MX: ['10 mail.example.com.'] }));
    const [first] = await changeMails(stand, 1);
    assert.equal(first?.subject, 'www.example.com changed');
    for (const body of [first?.text ?? '', first?.html ?? '']) {
      assert.match(body, /A changed: 192\.0\.2\.1 → 192\.0\.2\.2/);
      assert.match(body, /MX added: 10 mail\.example\.com\./);
      assert.match(body, /\/account\/unsubscribe\?account=/);
    }
    // What comes soon after waits, and is told together.
    stand.enter(probe('www.example.com', clock.now + 1_000, { A: ['192.0.2.3'], MX: ['10 mail.example.com.'] }));
    stand.enter(probe('www.example.com', clock.now + 1_000, { A: ['192.0.2.4'], MX: ['10 mail.example.com.'] }));
    await settled();
    assert.equal((await changeMails(stand, 1)).length, 1);
    clock.now += MAIL_EVERY;
    const [, second] = await changeMails(stand, 2);
    assert.match(second?.text ?? '', /192\.0\.2\.2 → 192\.0\.2\.3[\s\S]*192\.0\.2\.3 → 192\.0\.2\.4/);
    // All of it was told at once: nothing is left for the day's mail.
    clock.now += 2 * DAY;
    await settled();
    assert.equal((await changeMails(stand, 2)).length, 2);
  });

  it('daily alerts cover each day, and a week of downtime gives one mail', { skip: ONLY_WIDE }, async (t) => {
    const stand = await accountStand(t);
    const { clock } = stand;
    stand.enter(probe('www.example.com', clock.now, { A: ['192.0.2.1'] }));
    const visitor = await stand.signIn(EMAIL);
    await alert(visitor, { group: await groupOf(visitor, 'Ours', 'www.example.com'), way: 'daily' });
    stand.enter(probe('www.example.com', clock.now + 1_000, { A: ['192.0.2.2'] }));
    await settled();
    assert.equal((await changeMails(stand, 0)).length, 0);
    for (let day = 1; day <= 7; day++) {
      // The clock jumps from day to day faster than the job looks.
      stand.enter(probe('www.example.com', clock.now + DAY, { A: [`192.0.2.${day + 2}`] }));
    }
    const [digest] = await changeMails(stand, 1);
    assert.equal(digest?.subject, 'Daily digest: 7 changes at 1 hostname');
    await settled();
    assert.equal((await changeMails(stand, 1)).length, 1);
  });

  it('end by one click without a cookie; a link scanner ends nothing', async (t) => {
    const stand = await accountStand(t);
    const { clock, app } = stand;
    stand.enter(probe('www.example.com', clock.now, { A: ['192.0.2.1'] }));
    const visitor = await stand.signIn(EMAIL);
    await alert(visitor, { hostname: 'www.example.com' });
    stand.enter(probe('www.example.com', clock.now + 1_000, { A: ['192.0.2.2'] }));
    const [mail] = await changeMails(stand, 1);
    const header = (name: string) => mail?.headers.find(({ key }) => key === name)?.value ?? '';
    assert.equal(header('list-unsubscribe-post'), 'List-Unsubscribe=One-Click');
    const link = new URL(header('list-unsubscribe').slice(1, -1));
    const path = link.pathname + link.search;
    const account = app.store.records.accounts.byEmail(EMAIL)?.id ?? '';
    const isOn = () => app.store.records.changeAlerts.list(account).every(({ off_at }) => off_at === null);
    const stranger = new Visitor(stand.url, 'https://mail.example');
    assert.equal((await stranger.get(path)).status, 200);
    assert.ok(isOn());
    const forged = path.replace(/token=.{5}/, 'token=AAAAA');
    assert.equal((await stranger.post(forged, { 'List-Unsubscribe': 'One-Click' })).status, 404);
    assert.ok(isOn());
    assert.equal((await stranger.post(path, { 'List-Unsubscribe': 'One-Click' })).status, 200);
    assert.ok(!isOn());
    stand.enter(probe('www.example.com', clock.now + MAIL_EVERY, { A: ['192.0.2.3'] }));
    await settled();
    assert.equal((await changeMails(stand, 1)).length, 1);
    const [{ id = '' } = {}] = app.store.records.changeAlerts.list(account);
    await visitor.submit('/account/alerts', `/account/alerts/${id}/on`);
    assert.ok(isOn());
  });

  it('end when the address takes no mail', async (t) => {
    const stand = await accountStand(
      t,
      {},
      {
        onRcptTo({ address }, _session, done) {
          done(address === 'gone@example.org' && gone ? refusal(550, '5.1.1 no such mailbox') : undefined);
        },
      },
    );
    let gone = false;
    stand.enter(probe('www.example.com', stand.clock.now, { A: ['192.0.2.1'] }));
    const visitor = await stand.signIn('gone@example.org');
    await alert(visitor, { hostname: 'www.example.com' });
    gone = true;
    stand.enter(probe('www.example.com', stand.clock.now + 1_000, { A: ['192.0.2.2'] }));
    const account = stand.app.store.records.accounts.byEmail('gone@example.org')?.id ?? '';
    await until(() => (stand.app.store.records.changeAlerts.list(account)[0]?.off_reason === 'bounced' ? true : null));
    assert.match((await visitor.get('/account/alerts')).text, /the address took no mail/);
  });
});

describe('alerts to webhooks', () => {
  it('are signed with a secret shown once, sent again when they fail, and logged', async (t) => {
    const stand = await accountStand(t, { WEBHOOK_PRIVATE: 'allow' });
    const { clock } = stand;
    const hook = await receiver(t);
    stand.enter(probe('www.example.com', clock.now, { A: ['192.0.2.1'] }));
    const visitor = await stand.signIn(EMAIL);
    const group = await groupOf(visitor, 'Ours', 'www.example.com');
    const made = await alert(visitor, { group, way: 'webhook', url: hook.url });
    assert.equal(made.status, 201);
    const secret = /whsec_[\w+/=]+/.exec(made.text)?.[0] ?? '';
    const path = /\/account\/alerts\/[0-9a-z]{26}/.exec(made.text)?.[0] ?? '';
    assert.equal(made.headers.location, path);
    assert.ok(!(await visitor.get(path)).text.includes(secret), 'shown once');

    await visitor.submit(path, `${path}/test`);
    const test = await until(() => hook.got[0] ?? null);
    assert.equal(JSON.parse(test.body).type, 'webhook.test');

    hook.answer = (_, response) => response.writeHead(hook.got.length === 2 ? 500 : 204).end();
    stand.enter(probe('www.example.com', clock.now + 1_000, { A: ['192.0.2.2'], MX: ['10 mail.example.com.'] }));
    const first = await until(() => hook.got[1] ?? null);
    await until(async () => ((await visitor.get(path)).text.includes('500 status') ? true : null));
    clock.now += 5_000;
    const again = await until(() => hook.got[2] ?? null);
    assert.equal(again.headers['webhook-id'], first.headers['webhook-id']);
    assert.equal(again.body, first.body);
    const { type, data } = JSON.parse(first.body);
    assert.equal(type, 'domain.changed');
    assert.deepEqual(
      data.changes.map((change: Record<string, unknown>) => [change.domain, change.signal, change.kind]),
      [
        ['www.example.com', 'A', 'changed'],
        ['www.example.com', 'MX', 'added'],
      ],
    );
    const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = again.headers;
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    assert.equal(signature, `v1,${createHmac('sha256', key).update(`${id}.${at}.${again.body}`).digest('base64')}`);
    await settled();
    assert.equal(hook.got.length, 3);
    const { text } = await ask(stand.url, '/v1/openapi.json');
    const contract = new Contract(JSON.parse(text) as Document);
    assert.deepEqual(Object.keys(contract.document.webhooks ?? {}).sort(), [
      'domain.as_expected',
      'domain.changed',
      'domain.done_as_planned',
      'domain.plan_missed',
      'domain.unexpected',
      'webhook.test',
    ]);
    for (const received of hook.got) assert.equal(webhookMismatch(contract, received), null, received.body);
    const forged = again.body.replace('"kind":"changed"', '"kind":"renamed"');
    assert.notEqual(webhookMismatch(contract, { ...again, body: forged }), null, 'the schema is no formality');
    const log = (await visitor.get(path)).text;
    assert.match(log, /domain\.changed/);
    assert.match(log, /webhook\.test/);
    assert.ok(!log.includes('192.0.2.2'), 'a log holds nothing of what was sent');
  });

  it('lead to public hosts alone', async (t) => {
    const stand = await accountStand(t);
    const visitor = await stand.signIn(EMAIL);
    const group = await groupOf(visitor, 'Ours', 'www.example.com');
    for (const url of [
      'http://hooks.example.com/',
      'https://127.0.0.1/',
      'https://localhost/',
      'https://[::1]/',
      'x',
      '',
    ]) {
      const refused = await alert(visitor, { group, way: 'webhook', url });
      assert.equal(refused.status, 400, url);
      assert.match(refused.text, /give an https address on a public host/);
    }
    for (const [fields, words] of [
      [{ group, hostname: 'www.example.com' }, /a group or of one hostname/],
      [{}, /a group or of one hostname/],
      [{ group: 'nobodys' }, /no such group/],
      [{ hostname: 'other.example.com' }, /not under watch/],
      [{ hostname: '192.0.2.1' }, /is not a hostname/],
    ] as const) {
      const refused = await alert(visitor, fields as Record<string, string>);
      assert.equal(refused.status, 400);
      assert.match(refused.text, words);
    }
    const other = await stand.signIn('ben@example.org');
    assert.match((await alert(other, { group })).text, /no such group/, 'another’s group is none');
  });
});

const STANDARD = { format: 'standard', routing_key: null } as const;

it('a crash between two steps neither repeats nor skips a change', async (t) => {
  const stand = await recordsStand(t);
  const { app, clock } = stand;
  const { store } = app;
  for (const [n, email] of ['a@example.org', 'b@example.org'].entries()) {
    const account = store.records.accounts.ofEmail(email, { id: `account-${n}`, plan: 'daily', made_at: 0 }).id;
    const alert = { account, watch_group: null, hostname: 'www.example.com', made_at: 0 };
    store.records.changeAlerts.add({ ...alert, id: `mail-${n}`, way: 'instant', url: null, secret: null, ...STANDARD });
    store.records.changeAlerts.add({
      ...alert,
      id: `hook-${n}`,
      way: 'webhook',
      url: 'https://h.example/',
      secret: 'whsec_',
      ...STANDARD,
    });
  }
  for (let n = 0; n < 5; n++) stand.enter(probe('www.example.com', clock.now + 1_000, { A: [`192.0.2.${n}`] }));
  let calls = 0;
  let breaksAt = 0;
  const breaking = <T extends object>(table: T): T =>
    new Proxy(table, {
      get(target, name, self) {
        const member = Reflect.get(target, name, self);
        if (typeof member !== 'function') return member;
        return (...given: unknown[]) => {
          if (++calls === breaksAt) throw new Error('the process was killed');
          return (member as (...all: unknown[]) => unknown)(...given);
        };
      },
    });
  const frail = {
    ...store.records,
    changeQueue: breaking(store.records.changeQueue),
    accountMails: breaking(store.records.accountMails),
  };
  const fresh = { now: app.clock.now, newId, root: 'https://records.example' };
  // At each step once, until a run gets through.
  for (let isThrough = false; !isThrough; ) {
    breaksAt++;
    calls = 0;
    try {
      while (queueChanges(frail, deltaSource(app), fresh));
      queueChangeMails(frail, fresh);
      isThrough = true;
    } catch {}
  }
  assert.ok(breaksAt > 10, 'there were steps to break at');
  for (const n of [0, 1]) {
    const mails = store.records.accountMails.ofAccount(`account-${n}`);
    const told = mails.flatMap(({ id }) => store.records.changeQueue.changesIn(id).map(({ seq }) => seq));
    assert.deepEqual(told.sort(), [1, 2, 3, 4]);
    const bodies = store.records.changeAlerts.deliveries(`hook-${n}`, 100);
    assert.equal(bodies.length, 1);
  }
  const leased = store.records.changeDeliveries.lease(
    [0, 1].flatMap((n) => store.records.changeAlerts.deliveries(`hook-${n}`, 10).map(({ id }) => id)),
    clock.now,
    clock.now + 1,
  );
  for (const { body } of leased) {
    const { data } = JSON.parse(body) as { data: { changes: { seq: number }[] } };
    assert.deepEqual(
      data.changes.map(({ seq }) => seq),
      [1, 2, 3, 4],
    );
  }
  assert.equal(leased.length, 2);
});
