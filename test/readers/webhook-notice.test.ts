import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { noticeMails } from '../../src/desk/jobs/paper-mails.ts';
import { paperDeliveries, queuePaperEvents } from '../../src/desk/jobs/paper-webhooks.ts';
import { NOTICE_GATHERS } from '../../src/desk/readers/notice.ts';
import { addWebhook } from '../../src/desk/readers/webhook.ts';
import { queueTest } from '../../src/desk/readers/webhook-queue.ts';
import { newId } from '../../src/shared/new-id.ts';
import { Dispatcher } from '../../src/shared/outbound/dispatcher.ts';
import type { Mail } from '../../src/shared/outbound/mail.ts';
import { MailSender } from '../../src/shared/outbound/mail-sender.ts';
import { appContextIn, type Clock, createPaper, PAPER, SECTIONS, tempFolder } from '../support/app-context.ts';
import { plainRender, transportOf } from '../support/mails.ts';
import { publish } from '../support/newsroom.ts';

/** A paper whose receivers answer as the test says, and the notices that its people get. */
function stand(t: TestContext, refuses?: (mail: Mail) => Error | null) {
  const clock: Clock = { now: Date.parse('2026-11-20T12:00:00Z') };
  const app = appContextIn(t, tempFolder(t), clock);
  createPaper(app, { contact: 'desk@harbor.example' });
  const {
    store,
    clock: { now },
  } = app;
  let status = 410;
  const client = { post: async () => ({ ms: 5, status, error: status === 410 ? 'gone' : null }) };
  const quiet = { attempted() {}, switchedOff() {}, unrecorded() {} };
  const mails: Mail[] = [];
  const mailer = {
    async send(mail: Mail) {
      const error = refuses?.(mail) ?? null;
      if (error !== null) throw error;
      mails.push(mail);
    },
  };
  const news = { sent() {}, failed() {}, gaveUp() {}, unrecorded() {} };
  return {
    clock,
    app,
    mails,
    answers(to: number) {
      status = to;
    },
    add: (url: string) => addWebhook(store.desk, PAPER, { url }, SECTIONS, { now: now(), newId, allowsPrivate: false }),
    seat(email: string, level: 'read' | 'admin') {
      const key = { id: newId(), paper: PAPER, level, name: email, seat: email, persona: null, made_at: clock.now };
      app.store.desk.keys.insert(
        {
          ...key,
          made_by: 'cli',
          expires_at: null,
          used_at: null,
          revoked_at: null,
          revoked_by: null,
          paused_at: null,
          paused_by: null,
        },
        key.id,
      );
      return key.id;
    },
    async deliver() {
      while (queuePaperEvents(app));
      const dispatcher = new Dispatcher(
        paperDeliveries(app),
        { client, allowsPrivate: false, now, groupCommit: store.database.groupCommit },
        quiet,
      );
      dispatcher.start();
      await dispatcher.idle();
    },
    async send() {
      const sender = new MailSender(noticeMails(app, plainRender), transportOf(app, mailer), news);
      sender.start();
      await sender.idle();
    },
  };
}

test('who has an admin seat gets one mail of all webhooks that were switched off together', async (t) => {
  const { clock, app, mails, add, seat, deliver, send } = stand(t);
  seat('mara@example.org', 'admin');
  seat('ida@example.org', 'admin');
  seat('reads@example.org', 'read');
  app.store.desk.keys.revoke(PAPER, seat('gone@example.org', 'admin'), clock.now, 'cli');
  const first = add('https://one.example.net/secret-path');
  add('https://two.example.net/');
  publish(app, 'a-piece');
  await deliver();
  await send();
  assert.equal(mails.length, 0, 'more may come');
  clock.now += NOTICE_GATHERS;
  await send();
  assert.deepEqual(mails.map(({ to }) => to).sort(), ['ida@example.org', 'mara@example.org']);
  const [mail] = mails;
  assert.equal(mail?.subject, 'The Harbor Ledger: 2 webhooks were switched off');
  assert.match(mail?.text ?? '', new RegExp(`one\\.example\\.net \\(the desk’s, ${first.id}\\): it answered\\s410`));
  assert.match(mail?.text ?? '', /two\.example\.net/);
  assert.doesNotMatch((mail?.text ?? '') + mail?.html, /secret-path|whsec/);
  clock.now += NOTICE_GATHERS;
  await send();
  assert.equal(mails.length, 2, 'once');
});

test('without a seat the paper’s contact is notified; a webhook that works again by then is left out', async (t) => {
  const { clock, app, mails, answers, add, deliver, send } = stand(t);
  const webhook = add('https://one.example.net/');
  publish(app, 'a-piece');
  await deliver();
  answers(204);
  queueTest(app.store.desk, PAPER, webhook, { now: clock.now, newId });
  await deliver();
  clock.now += NOTICE_GATHERS;
  await send();
  assert.equal(mails.length, 0, 'a test switched it on');
  answers(410);
  publish(app, 'another-piece');
  await deliver();
  clock.now += NOTICE_GATHERS;
  await send();
  assert.deepEqual(
    mails.map(({ to }) => to),
    ['desk@harbor.example'],
  );
});

test('what goes off later is in another notice; an address that takes no mail ends that notice alone', async (t) => {
  const tried: string[] = [];
  const refused = Object.assign(new Error('no'), { code: 'EENVELOPE', command: 'RCPT TO', responseCode: 550 });
  const { clock, app, mails, add, seat, deliver, send } = stand(t, ({ to, text }) => {
    tried.push(`${to} ${/(\w+)\.example\.net/.exec(text)?.[1]}`);
    return to.startsWith('full') ? refused : null;
  });
  seat('full@example.org', 'admin');
  seat('mara@example.org', 'admin');
  add('https://one.example.net/');
  publish(app, 'a-piece');
  await deliver();
  clock.now += NOTICE_GATHERS;
  await send();
  add('https://two.example.net/');
  clock.now += 1;
  publish(app, 'another-piece');
  await deliver();
  clock.now += NOTICE_GATHERS;
  await send();
  assert.deepEqual(tried.sort(), [
    'full@example.org one',
    'full@example.org two',
    'mara@example.org one',
    'mara@example.org two',
  ]);
  assert.equal(mails.length, 2);
});
