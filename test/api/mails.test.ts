import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import Database from 'libsql';
import { appContextIn, createPaper, tempFolder } from '../support/app-context.ts';
import { publish } from '../support/newsroom.ts';
import { refusedServe, serve, start, until } from '../support/program.ts';
import { confirmedReader } from '../support/readers.ts';
import { send } from '../support/send.ts';
import { serveHere } from '../support/serve-here.ts';
import { enterPapers, storyBody } from '../support/small-papers.ts';
import { certificateIn, parsed, type SmtpStand, smtpServer, type Taken } from '../support/smtp.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const FROM = 'alerts@news.example';
/** Five hundred in `.ci/wide`. */
const READERS = ONLY_WIDE === false ? 500 : 80;
/** How many mails are under way at a time (src/shared/net/smtp.ts): what a kill can leave sent and not noted. */
const UNDER_WAY = 5;

const smtpEnv = ({ port }: SmtpStand) => ({
  SMTP_URL: `smtp://127.0.0.1:${port}`,
  MAIL_FROM: FROM,
  MAILS_PER_MINUTE: '0',
  ORIGIN: 'https://news.example',
});

test('from subscription to the last mail: confirmed, sent immediately, ended with one click', async (t) => {
  const folder = tempFolder(t);
  const tls = certificateIn(join(folder, 'tls'));
  const server = await smtpServer(t, {
    ...tls,
    secure: true,
    authOptional: false,
    onAuth: ({ username = '' }, _session, done) => done(null, { user: username }),
  });
  const keys = (await enterPapers(folder, [{ slug: 'tides' }])).get('tides');
  const serving = await serve(t, folder, {
    SMTP_URL: `smtps://desk:sesame@127.0.0.1:${server.port}`,
    MAIL_FROM: FROM,
    NODE_EXTRA_CA_CERTS: tls.certFile,
    LOG_LEVEL: 'debug',
  });
  const { url } = serving;
  const api = '/tides/api/v1';
  const json = { accept: 'application/json' };
  const order = { email: 'ada@example.org', cadence: 'instant', sections: ['Tides'] };
  const ordered = await send(url, { method: 'POST', path: `${api}/subscribers`, body: order, headers: json });
  assert.equal(ordered.status, 202, ordered.text);
  const [question] = await mailsOf(server, 1);
  const asked = await parsed(question as Taken);
  assert.equal(asked.subject, 'Confirm your subscription to The Tide Table');
  // A scanner opens every link of the mail, in its text and in its HTML: nothing is confirmed by that.
  await scan(asked.text, asked.html);
  const counts = async () =>
    JSON.parse(
      (await send(url, { path: `${api}/subscribers`, headers: { authorization: `Bearer ${keys?.read}` } })).text,
    );
  assert.deepEqual(await counts(), { count: 1, confirmed: 0 });
  const token = new URL(/https?:\S+confirm\?token=\S+/.exec(asked.text ?? '')?.[0] ?? '').searchParams.get('token');
  const confirmed = await send(url, {
    method: 'POST',
    path: '/tides/subscribe/confirm',
    body: { token },
    headers: json,
  });
  assert.equal(confirmed.status, 200, confirmed.text);

  const admin = { authorization: `Bearer ${keys?.admin}` };
  const { version } = JSON.parse((await send(url, { path: `${api}/agent/terms`, headers: admin })).text);
  const signed = { version, signed_by: 'Mara Vell' };
  await send(url, { method: 'POST', path: `${api}/agent/terms/accept`, body: signed, headers: admin });
  const file = async (slug: string, more: object = {}) => {
    const headers = { authorization: `Bearer ${keys?.agent}` };
    const filed = await send(url, {
      method: 'POST',
      path: `${api}/stories`,
      body: { ...storyBody(slug), air: true, ...more },
      headers,
    });
    assert.ok(filed.status < 300, filed.text);
  };
  await file('a-light', { category: 'Lights' });
  await file('neap-tide');
  const [, alert] = await mailsOf(server, 2);
  const told = await parsed(alert as Taken);
  assert.equal(told.subject, 'What neap tide means');
  assert.deepEqual([alert?.to, alert?.secure, alert?.user], [['ada@example.org'], true, 'desk']);
  await scan(told.text, told.html);
  assert.deepEqual(await counts(), { count: 1, confirmed: 1 });
  // RFC 8058: the mail program posts one field to the address of the header.
  const header = told.headers.find(({ key }) => key === 'list-unsubscribe')?.value ?? '';
  const oneClick = new URL(header.slice(1, -1));
  const ended = await send(url, {
    method: 'POST',
    path: oneClick.pathname + oneClick.search,
    body: 'List-Unsubscribe=One-Click',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  assert.equal(ended.status, 200, ended.text);
  assert.deepEqual(await counts(), { count: 0, confirmed: 0 });
  await file('ebb-tide');
  const { code, stderr } = await serving.stop();
  assert.equal(code, 0);
  assert.equal(server.taken.length, 2);
  assert.match(stderr, /"kind":"instant"/, 'the log tells of the mail');
  // The link for the first seat is for the operator, who reads the log.
  const rest = stderr.replaceAll(/.*\/console\/first\?token=.*/g, '');
  assert.doesNotMatch(rest, /ada@|sesame|token=\w/, 'and of nobody');
});

test('a server killed repeatedly while it mails 500 readers misses none, and repeats only mails in flight', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = toldFolder(t);
  const server = await smtpServer(t);
  const kills = [60, 300];
  for (const count of kills) {
    const { child, ended } = start(t, folder, ['serve'], smtpEnv(server));
    await until(() => (server.taken.length >= count || child.exitCode !== null ? true : null));
    child.kill('SIGKILL');
    assert.equal((await ended).signal, 'SIGKILL');
  }
  const { stop } = await serve(t, folder, smtpEnv(server));
  await until(() => (new Set(server.taken.map(({ to }) => to[0])).size === READERS ? true : null));
  const sent = sentIn(t, folder);
  await until(() => (sent() === READERS ? true : null));
  assert.equal((await stop()).code, 0);
  const ids = new Map<string, Set<string>>();
  for (const taken of server.taken) {
    const { messageId = '' } = await parsed(taken);
    const to = taken.to[0] ?? '';
    ids.set(to, (ids.get(to) ?? new Set()).add(messageId));
  }
  assert.equal(ids.size, READERS, 'nobody is missed');
  for (const [to, its] of ids) assert.equal(its.size, 1, `${to} got mails under one Message-ID`);
  const repeats = server.taken.length - READERS;
  t.diagnostic(`${repeats} mails came twice after ${kills.length} kills`);
  assert.ok(repeats <= kills.length * UNDER_WAY, `${repeats} repeats`);
});

test('of two servers on one database one sends; on SIGTERM it records what is in flight and the other continues', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = toldFolder(t);
  const server = await smtpServer(t);
  const first = await serve(t, folder, smtpEnv(server));
  const second = await serve(t, folder, smtpEnv(server));
  await until(() => (server.taken.length >= 30 ? true : null));
  assert.equal((await first.stop()).code, 0);
  const sent = sentIn(t, folder);
  await until(() => (sent() === READERS ? true : null));
  assert.equal((await second.stop()).code, 0);
  const readers = new Set(server.taken.map(({ to }) => to[0]));
  assert.deepEqual([readers.size, server.taken.length], [READERS, READERS], 'each once');
});

test('without a mail server the log says so once, and settings that lack something stop the start', async (t) => {
  const folder = tempFolder(t);
  const { stop } = await serveHere(t, folder, { LOG_LEVEL: 'info' });
  const { stderr } = await stop();
  assert.equal(stderr.match(/SMTP_URL is not set/g)?.length, 1);
  const lacking = await refusedServe(folder, { SMTP_URL: 'smtp://desk:sesame@mail.example' });
  assert.notEqual(lacking.code, 0);
  assert.match(lacking.stderr, /MAIL_FROM.*must be set/);
  const bad = await refusedServe(folder, { SMTP_URL: 'http://desk:sesame@mail.example', MAIL_FROM: FROM });
  assert.match(bad.stderr, /SMTP_URL=….*smtp/);
  for (const text of [lacking.stderr, bad.stderr]) assert.doesNotMatch(text, /sesame/);
  const key = await refusedServe(folder, {
    SMTP_URL: 'smtp://mail.example',
    MAIL_FROM: FROM,
    DKIM_SELECTOR: 'a',
    DKIM_KEY_FILE: join(folder, 'none.pem'),
  });
  assert.notEqual(key.code, 0);
  assert.match(key.stderr, /DKIM_KEY_FILE/);
});

/** A folder whose paper has put a piece on air, with readers to tell. */
function toldFolder(t: TestContext): string {
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, { now: Date.now() });
  createPaper(app);
  app.store.database.transact(() => {
    for (let n = 0; n < READERS; n++) confirmedReader(app, `reader-${n}@example.org`, { cadence: 'instant' });
  });
  publish(app, 'high-water');
  return folder;
}

function sentIn(t: TestContext, folder: string): () => number {
  // Once for all the times that it is asked: a closed database's files are given back when there is time for it.
  const db = new Database(join(folder, 'var/broadsheet.db'), { readonly: true });
  t.after(() => db.close());
  const sent = db.prepare("SELECT count(*) AS sent FROM mails WHERE state = 'sent'");
  return () => (sent.all()[0] as { sent: number }).sent;
}

function mailsOf(server: SmtpStand, count: number): Promise<Taken[]> {
  return until(() => (server.taken.length >= count ? server.taken : null));
}

/** Opens every link of a mail, as scanners of mail do. */
async function scan(...bodies: (string | undefined)[]): Promise<void> {
  const links = new Set(
    bodies.flatMap((body) => [...(body ?? '').matchAll(/https?:\/\/[^\s"<>]+/g)].map(([link]) => link)),
  );
  assert.ok(links.size >= 2);
  for (const link of links) for (const method of ['HEAD', 'GET']) await fetch(link, { method });
}
