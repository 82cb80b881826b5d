import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { SMTPServerOptions } from 'smtp-server';
import type { MailRecord } from '../../src/desk/readers/mail.ts';
import type { Subscriber } from '../../src/desk/readers/subscriber.ts';
import type { AppContext } from '../../src/server/context.ts';
import { type SmtpSettings, smtpMailer } from '../../src/shared/net/smtp.ts';
import { newId } from '../../src/shared/new-id.ts';
import { MAIL_GIVE_UP, mailWait, REFUSED_GIVE_UP, REFUSED_WAIT } from '../../src/shared/outbound/retry.ts';
import { appContextIn, type Clock, createPaper, PAPER, tempFolder } from '../support/app-context.ts';
import { type Sending, senderOf } from '../support/mails.ts';
import { confirmedReader } from '../support/readers.ts';
import { certificateIn, parsed, refusal, type SmtpStand, smtpServer } from '../support/smtp.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const FROM = 'alerts@news.example';
const MINUTE = 60_000;

interface Stand extends Sending {
  app: AppContext;
  clock: Clock;
  reader: Subscriber;
  /** The one mail of the reader, while the reader is there. */
  mail(): MailRecord;
}

/** A paper, a reader with a mail that asks to confirm, and a sender of it. */
function stand(t: TestContext, smtp: Partial<SmtpSettings> & { url: string }): Stand {
  // Ids hold the real time, and giving up goes by it.
  const clock = { now: Date.now() };
  const app = appContextIn(t, tempFolder(t), clock);
  createPaper(app, { contact: 'desk@harbor.example' });
  const reader = confirmedReader(app, 'reader@example.org');
  queueConfirm(app, reader);
  const mailer = smtpMailer({ from: FROM, dkim: null, ...smtp });
  t.after(() => mailer.close());
  const mail = () => app.store.desk.readers.mails.ofSubscriber(reader.id)[0] as MailRecord;
  return { ...senderOf(app, mailer), app, clock, reader, mail };
}

function queueConfirm({ store, clock: { now } }: AppContext, { id }: Subscriber): void {
  store.desk.readers.mails.queue({
    id: newId(),
    paper: PAPER,
    subscriber: id,
    kind: 'confirm',
    about: '',
    due_at: now(),
  });
}

const plain = ({ port }: SmtpStand) => `smtp://127.0.0.1:${port}`;

test('a mail goes out over TLS with a password, from the setting’s address and the paper’s name', async (t) => {
  const tls = certificateIn(tempFolder(t));
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, tls.cert.toString()]);
  t.after(() => setDefaultCACertificates(before));
  const users: string[] = [];
  const auth = {
    ...tls,
    authOptional: false,
    onAuth({ username = '', password }, _session, done) {
      if (password !== 'open/sesame') return done(refusal(535, 'no'));
      users.push(username);
      done(null, { user: username });
    },
  } satisfies Parameters<typeof smtpServer>[1];
  const implicit = await smtpServer(t, { ...auth, secure: true });
  const starttls = await smtpServer(t, { ...auth, disabledCommands: [] });
  for (const [scheme, server] of [
    ['smtps', implicit],
    ['smtp', starttls],
  ] as const) {
    const { idle, mail, failures } = stand(t, { url: `${scheme}://desk%40x:open%2Fsesame@127.0.0.1:${server.port}` });
    await idle();
    assert.deepEqual(
      failures.map(({ words }) => words),
      [],
    );
    const [taken] = server.taken;
    assert.ok(taken);
    assert.deepEqual([taken.from, taken.to, taken.secure, taken.user], [FROM, ['reader@example.org'], true, 'desk@x']);
    const email = await parsed(taken);
    assert.deepEqual(email.from, { name: 'The Harbor Ledger', address: FROM });
    assert.deepEqual(email.replyTo, [{ name: '', address: 'desk@harbor.example' }]);
    assert.equal(email.messageId, `<${mail().id}@localhost>`);
    assert.ok(Math.abs(Date.parse(email.date ?? '') - Date.now()) < 60_000);
    assert.match(email.text ?? '', /\/subscribe\/confirm\?token=[\w-]{43}\n/);
    assert.match(email.html ?? '', /<p>/);
    assert.deepEqual([mail().state, mail().attempts], ['sent', 1]);
  }
  assert.deepEqual(users, ['desk@x', 'desk@x']);
  const wrong = stand(t, { url: `smtps://desk:wrong@127.0.0.1:${implicit.port}` });
  await wrong.idle();
  assert.deepEqual([wrong.failures[0]?.side, wrong.failures[0]?.words.code], ['server', 'EAUTH']);
  assert.deepEqual([wrong.mail().state, implicit.taken.length], ['due', 1]);
});

test('an untrusted certificate is rejected, and no password is sent in the clear', async (t) => {
  const tls = certificateIn(tempFolder(t));
  const secrets: string[] = [];
  const onAuth: SMTPServerOptions['onAuth'] = ({ password }, _session, done) => {
    secrets.push(password ?? '');
    done(null, { user: 'x' });
  };
  const unknown = await smtpServer(t, { ...tls, secure: true, onAuth });
  const bare = await smtpServer(t, { onAuth, allowInsecureAuth: true });
  for (const url of [`smtps://u:secret@127.0.0.1:${unknown.port}`, `smtp://u:secret@127.0.0.1:${bare.port}`]) {
    const { idle, mail, failures } = stand(t, { url });
    await idle();
    assert.deepEqual(
      failures.map(({ side }) => side),
      ['server'],
    );
    assert.deepEqual([mail().state, secrets], ['due', []]);
  }
});

test('an address that the server does not know is written to no more', async (t) => {
  const server = await smtpServer(t, { onRcptTo: (_, __, done) => done(refusal(550, '5.1.1 no such user')) });
  const { idle, failures, app, reader } = stand(t, { url: plain(server) });
  await idle();
  assert.deepEqual(failures[0]?.words, { code: 'EENVELOPE', command: 'RCPT TO', reply: 550, enhanced: '5.1.1' });
  assert.equal(app.store.desk.readers.subscribers.byId(reader.id), null);
  assert.equal(app.store.desk.readers.suppressions.of(PAPER, reader.reader)?.reason, 'bounced');
});

test('failures that are not the address’s fault end no subscription: the mail is retried', async (t) => {
  const refusals: [string, number, string, 'mail' | 'refused' | 'server', 'onRcptTo' | 'onMailFrom' | 'onConnect'][] = [
    ['greylisting', 451, '4.7.1 try again later', 'mail', 'onRcptTo'],
    ['a full mailbox', 452, '4.2.2 over quota', 'mail', 'onRcptTo'],
    ['a policy', 550, '5.7.1 not from you', 'refused', 'onRcptTo'],
    ['a full mailbox for good', 552, '5.2.2 over quota', 'refused', 'onRcptTo'],
    ['a server that closes', 421, '4.3.2 shutting down', 'server', 'onRcptTo'],
    ['a sender who is not taken', 550, '5.1.8 who are you', 'server', 'onMailFrom'],
    ['a server that takes nobody', 554, '5.3.2 no mail here', 'server', 'onConnect'],
  ];
  for (const [what, code, text, side, step] of refusals) {
    let refuses = true;
    const server = await smtpServer(t, {
      [step]: (...args: unknown[]) =>
        (args.at(-1) as (error?: Error) => void)(refuses ? refusal(code, text) : undefined),
    });
    const { idle, failures, mail, clock } = stand(t, { url: plain(server) });
    await idle();
    assert.deepEqual(
      failures.map((failure) => failure.side),
      [side],
      what,
    );
    assert.equal(mail().state, 'due', what);
    const wait = side === 'refused' ? REFUSED_WAIT : MINUTE;
    assert.equal(mail().due_at, clock.now + wait, what);
    refuses = false;
    clock.now += wait;
    await idle();
    assert.deepEqual([mail().state, mail().attempts, server.taken.length], ['sent', 2, 1], what);
  }
});

test('an unreachable server, or one that wants a password, stops all mail and counts against no address', async (t) => {
  const server = await smtpServer(t, {
    authOptional: false,
    allowInsecureAuth: true,
  });
  const gone = await smtpServer(t);
  await gone.close();
  for (const url of [`${plain(gone)}`, `smtp://127.0.0.1:${server.port}`]) {
    const { idle, failures, mail, app, reader, clock } = stand(t, { url });
    await idle();
    assert.deepEqual(
      failures.map(({ side }) => side),
      ['server'],
      url,
    );
    assert.equal(mail().state, 'due');
    assert.notEqual(app.store.desk.readers.subscribers.byId(reader.id), null);
    // While all rest, nothing is tried.
    const other = confirmedReader(app, 'other@example.org');
    queueConfirm(app, other);
    await idle();
    assert.equal(failures.length, 1);
    clock.now += 1_000;
    await idle();
    assert.equal(failures.length, 2, 'one mail tries the server');
  }
});

test('a server that hangs in DATA or closes half-way: the mail goes again, under the same Message-ID', {
  skip: ONLY_WIDE,
}, async (t) => {
  for (const way of ['hangs', 'closes'] as const) {
    let ill = true;
    const raws: Buffer[] = [];
    const server: SmtpStand = await smtpServer(t, {
      onData(stream, _session, done) {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          raws.push(Buffer.concat(chunks));
          if (!ill) return done();
          ill = false;
          // The server has the mail, and its answer never comes.
          if (way === 'closes') server.breakAll();
        });
      },
    });
    const { idle, failures, mail, clock } = stand(t, { url: plain(server), silence: 800 });
    await idle();
    assert.notEqual(failures[0]?.side, 'reader', way);
    assert.equal(mail().state, 'due', way);
    // On a busy machine the short patience may run out once more.
    while (mail().state === 'due') {
      clock.now = mail().due_at;
      await idle();
    }
    assert.equal(mail().state, 'sent', way);
    assert.ok(raws.length >= 2, way);
    const ids = await Promise.all(raws.map(async (raw) => (await parsed({ raw })).messageId));
    assert.equal(new Set(ids).size, 1);
  }
});

test('a mail waits longer each time and is given up after five days; its reader stays', async (t) => {
  const server = await smtpServer(t, { onRcptTo: (_, __, done) => done(refusal(451, 'later')) });
  const { idle, mail, gaveUp, failures, clock, app, reader } = stand(t, { url: plain(server) });
  const begun = clock.now;
  const waits: number[] = [];
  while (mail().state === 'due') {
    await idle();
    if (mail().state !== 'due') break;
    waits.push(mail().due_at - clock.now);
    clock.now = mail().due_at;
  }
  assert.deepEqual(
    waits.slice(0, 4),
    [1, 2, 4, 8].map((minutes) => minutes * MINUTE),
  );
  assert.deepEqual(
    waits.map((_, n) => mailWait(n + 1)),
    waits,
  );
  assert.ok(clock.now - begun >= MAIL_GIVE_UP && clock.now - begun < MAIL_GIVE_UP + 5 * 3_600_000);
  assert.deepEqual([mail().state, gaveUp.length, failures.length], ['failed', 1, waits.length + 1]);
  assert.notEqual(app.store.desk.readers.subscribers.byId(reader.id), null);
});

test('a mail that is permanently rejected is given up after a day; its reader stays', async (t) => {
  const server = await smtpServer(t, { onRcptTo: (_, __, done) => done(refusal(554, '5.7.1 by policy')) });
  const { idle, mail, gaveUp, failures, clock, app, reader } = stand(t, { url: plain(server) });
  const begun = clock.now;
  for (;;) {
    await idle();
    if (mail().state !== 'due') break;
    assert.equal(mail().due_at - clock.now, REFUSED_WAIT);
    clock.now = mail().due_at;
  }
  assert.ok(clock.now - begun >= REFUSED_GIVE_UP && clock.now - begun <= REFUSED_GIVE_UP + REFUSED_WAIT);
  assert.deepEqual([mail().state, gaveUp.length, failures.length > 4], ['failed', 1, true]);
  assert.notEqual(app.store.desk.readers.subscribers.byId(reader.id), null);
});

test('stopping aborts a stalled mail, which is sent again', async (t) => {
  let reached: () => void = () => {};
  const inData = new Promise<void>((resolve) => {
    reached = resolve;
  });
  const server = await smtpServer(t, { onData: (stream) => stream.on('end', () => reached()).resume() });
  const mailer = smtpMailer({ url: plain(server), from: FROM, dkim: null });
  const app = appContextIn(t, tempFolder(t), { now: Date.now() });
  createPaper(app);
  const reader = confirmedReader(app, 'reader@example.org');
  queueConfirm(app, reader);
  const { sender, failures } = senderOf(app, mailer);
  sender.start();
  await inData;
  const stopped = sender.stop();
  mailer.breakOff();
  await stopped;
  const [mail] = app.store.desk.readers.mails.ofSubscriber(reader.id);
  assert.deepEqual([mail?.state, failures.length], ['due', 1]);
  assert.notEqual(failures[0]?.side, 'reader');
});

test('a mailer that was closed connects again', async (t) => {
  const server = await smtpServer(t);
  const mailer = smtpMailer({ url: plain(server), from: FROM, dkim: null });
  t.after(() => mailer.close());
  for (const sent of [1, 2]) {
    await mailer.verify();
    mailer.close();
    assert.equal(server.connections(), sent);
  }
});
