import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { airStory } from '../../src/desk/airing.ts';
import { append } from '../../src/desk/append.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { loadBuild } from '../../src/desk/press/build.ts';
import { queueAlerts } from '../../src/desk/readers/alert.ts';
import { end, tokenIn } from '../../src/desk/readers/link.ts';
import type { Choices } from '../../src/desk/readers/subscriber.ts';
import { type AppContext, deskOf } from '../../src/server/context.ts';
import { newId } from '../../src/shared/new-id.ts';
import { appContextIn, type Clock, createPaper, filing, PAPER, SECTIONS, tempFolder } from '../support/app-context.ts';
import { outboxOf, outboxSender, senderOf } from '../support/mails.ts';
import { AUDIO, airAgain, collector, publish, publishCast, queueAll, revise, withdraw } from '../support/newsroom.ts';
import { confirmedReader } from '../support/readers.ts';
import { parsed } from '../support/smtp.ts';

const NOON = Date.parse('2026-11-20T12:00:00Z');
const [CITY = '', PORT = ''] = SECTIONS;
const HOUR = 3_600_000;
const instant: Partial<Choices> = { cadence: 'instant' };

interface Stand {
  app: AppContext;
  clock: Clock;
  folder: string;
  /** Queues and sends all that is to be told now; who got what, by headline. */
  tell(): Promise<Record<string, string[]>>;
}

function stand(t: TestContext): Stand {
  const folder = tempFolder(t);
  const clock = { now: NOON };
  const app = appContextIn(t, folder, clock, { ORIGIN: 'https://news.example' });
  createPaper(app);
  const mailer = collector();
  const sending = senderOf(app, mailer);
  const tell = async () => {
    mailer.mails.length = 0;
    queueAll(app);
    await sending.idle();
    const got: Record<string, string[]> = {};
    for (const { to, subject } of mailer.mails) got[to] = [...(got[to] ?? []), subject];
    return got;
  };
  return { app, clock, folder, tell };
}

test('a piece on air alerts its readers immediately: by section, confirmed, not suppressed', async (t) => {
  const { app, tell } = stand(t);
  const { store } = app;
  confirmedReader(app, 'all@example.org', instant);
  confirmedReader(app, 'city@example.org', { ...instant, sections: [CITY] });
  confirmedReader(app, 'port@example.org', { ...instant, sections: [PORT] });
  confirmedReader(app, 'daily@example.org');
  store.desk.readers.subscribers.put({ ...confirmedReader(app, 'pending@example.org', instant), confirmed_at: null });
  const { reader } = confirmedReader(app, 'barred@example.org', instant);
  store.desk.readers.suppressions.put({
    paper: PAPER,
    reader,
    email: null,
    reason: 'by_hand',
    at: NOON,
    mailed_at: null,
  });
  const gone = confirmedReader(app, 'gone@example.org', instant);
  publish(app, 'high-water');
  queueAll(app);
  end(store.desk.readers, gone, 'unsubscribed', NOON);
  const headline = 'What high-water means';
  assert.deepEqual(await tell(), { 'all@example.org': [headline], 'city@example.org': [headline] });
  assert.deepEqual(await tell(), {}, 'once');
  confirmedReader(app, 'late@example.org', instant);
  assert.deepEqual(await tell(), {}, 'who came after it is not told');
  const row = store.desk.readers.subscribers.of(PAPER, confirmedReader(app, 'x@example.org').reader);
  assert.equal(row?.last_sent_at, null);
  const told = store.desk.readers.subscribers
    .list(PAPER, { limit: 50 })
    .filter(({ last_sent_at }) => last_sent_at !== null);
  assert.deepEqual(
    told.map(({ email }) => email),
    ['all@example.org', 'city@example.org'],
  );
});

test('a piece from an archive is marked in its mail, whose foot promises no sources for it', async (t) => {
  const { app, clock } = stand(t);
  confirmedReader(app, 'all@example.org', instant);
  const desk = deskOf(app);
  const old = filing('old', { cited_facts: [], prose: 'A text.', provenance: 'archive' });
  fileStory(desk, PAPER, old, { by: 'cli' });
  airStory(desk, PAPER, 'old', { by: 'cli', at: clock.now - HOUR });
  queueAll(app);
  const mailer = collector();
  const { render } = await loadBuild();
  await senderOf(app, mailer, (content) => render('/mail', content)).idle();
  const [{ text, html = '' } = { text: '' }] = mailer.mails;
  for (const form of [text, html]) {
    assert.match(form, /From the archive, not checked by this desk’s rules\./);
    // People may have written it.
    assert.match(form, /run by declared AI.personas/i);
    assert.doesNotMatch(form, /written by/i);
  }
  assert.match(text.replaceAll('\n', ' '), /Every piece names its sources, unless it is marked as from the archive\./);
});

test('a revision, a correction, a withdrawal and a coming back are not mailed', async (t) => {
  const { app, tell, clock } = stand(t);
  confirmedReader(app, 'all@example.org', instant);
  publish(app, 'high-water');
  assert.equal(Object.keys(await tell()).length, 1);
  clock.now += HOUR;
  revise(app, 'high-water', { headline: 'Another headline' });
  revise(app, 'high-water', { headline: 'A right headline', correction: 'The headline was wrong.' });
  assert.deepEqual(await tell(), {});
  withdraw(app, 'high-water');
  assert.deepEqual(await tell(), {});
  clock.now += 40 * 24 * HOUR;
  airAgain(app, 'high-water');
  assert.deepEqual(await tell(), {});
  publish(app, 'low-water');
  queueAlerts(app.store.desk, { now: app.clock.now, newId });
  withdraw(app, 'low-water');
  assert.deepEqual(await tell(), {}, 'what was withdrawn before its mail went out');
});

test('a video edition goes to those who want it, once for its day', async (t) => {
  const { app, tell } = stand(t);
  confirmedReader(app, 'with@example.org', { ...instant, sections: [PORT] });
  confirmedReader(app, 'without@example.org', { ...instant, cast: false });
  publishCast(app, '2026-11-20', 'The day in a minute');
  assert.deepEqual(await tell(), { 'with@example.org': ['The day in a minute'] });
  publishCast(app, '2026-11-20', 'The day in two minutes');
  assert.deepEqual(await tell(), {});
});

test('the mail of an audio edition invites to listen, and that of a video to watch', async (t) => {
  const { app, folder } = stand(t);
  const { render } = await loadBuild();
  confirmedReader(app, 'ada@example.org', instant);
  publishCast(app, '2026-11-19', 'To watch');
  publishCast(app, '2026-11-20', 'To hear', AUDIO);
  queueAll(app);
  await senderOf(app, outboxOf(app), (content) => render('/mail', content)).idle();
  const outbox = join(folder, 'var/outbox');
  const mails = readdirSync(outbox).map((name) => parsed({ raw: readFileSync(join(outbox, name)) }));
  const said = new Map(
    (await Promise.all(mails)).map(({ subject, text = '', html = '' }) => [subject, { text, html }]),
  );
  const [heard, watched] = [said.get('To hear'), said.get('To watch')];
  assert.match(heard?.text ?? '', /AUDIO EDITION\s+To hear/);
  assert.match(heard?.html ?? '', /Audio edition<.*Listen to it</s);
  assert.doesNotMatch(heard?.html ?? '', /Video|Watch/);
  assert.match(watched?.text ?? '', /VIDEO EDITION\s+To watch/);
  assert.match(watched?.html ?? '', /Video edition<.*Watch it</s);
});

test('an alert has the headers that mail programs expect, its reader’s own links, and no tracking', async (t) => {
  const { app, folder } = stand(t);
  const { render } = await loadBuild();
  const [ada, bob] = ['ada@example.org', 'bob@example.org'].map((email) => confirmedReader(app, email, instant));
  const headline = '“Zwölf & zwölf” <b>macht</b> 二十四';
  publish(app, 'twelve', { headline });
  queueAll(app);
  await senderOf(app, outboxOf(app), (content) => render('/mail', content)).idle();
  const outbox = join(folder, 'var/outbox');
  const names = readdirSync(outbox);
  assert.equal(names.length, 2);
  const tokens = new Set<string>();
  for (const name of names) {
    const email = await parsed({ raw: readFileSync(join(outbox, name)) });
    const header = (key: string) => email.headers.find((one) => one.key === key)?.value;
    assert.equal(email.subject, headline);
    assert.equal(header('list-id'), '<harbor-ledger.news.example>');
    assert.equal(header('list-unsubscribe-post'), 'List-Unsubscribe=One-Click');
    assert.equal(header('auto-submitted'), 'auto-generated');
    const url = new URL(/^<(\S+)>$/.exec(header('list-unsubscribe') ?? '')?.[1] ?? '');
    assert.equal(`${url.origin}${url.pathname}`, 'https://news.example/harbor-ledger/subscribe/unsubscribe');
    const token = url.searchParams.get('token') ?? '';
    tokens.add(token);
    const reader = [ada, bob].find((row) => row?.email === email.to?.[0]?.address);
    assert.equal(
      tokenIn(app.store.desk.readers.tokens, PAPER, 'manage', token, app.clock.now()).reader,
      reader?.reader,
    );
    const { html = '', text = '' } = email;
    for (const body of [html, text]) {
      assert.match(body, /AI persona/);
      assert.ok(body.includes('https://news.example/harbor-ledger/stories/twelve/'));
      assert.deepEqual([...new Set([...body.matchAll(/token=([\w-]+)/g)].map(([, found]) => found))], [token]);
      assert.doesNotMatch(body, /example\.org/, 'no address stands in it');
    }
    assert.ok(text.includes(headline));
    assert.ok(html.includes('“Zwölf &amp; zwölf” &lt;b&gt;macht&lt;/b&gt; 二十四'));
    // Nothing is loaded from anywhere, and nothing runs.
    assert.doesNotMatch(html, /<(?:img|script|link|iframe|form)\b|url\(|@import|\bsrc=|\bon\w+=/i);
    const hosts = new Set([...html.matchAll(/https?:\/\/([^/"]+)/g)].map(([, host]) => host));
    assert.deepEqual([...hosts], ['news.example']);
  }
  assert.equal(tokens.size, 2);
});

test('a mail of a private paper has its reader’s own links and no other: nothing else there would open', async (t) => {
  const { app, clock } = stand(t);
  const body = { ...(app.store.desk.record(PAPER, 'paper', '') as object), paper_public: false };
  append(app.store.desk, { type: 'record', at: clock.now, paper: PAPER, kind: 'paper', name: '', body });
  confirmedReader(app, 'all@example.org', { ...instant, cast: true });
  publish(app, 'one');
  publishCast(app, '2026-11-20');
  queueAll(app);
  const mailer = collector();
  const { render } = await loadBuild();
  await senderOf(app, mailer, (content) => render('/mail', content)).idle();
  assert.equal(mailer.mails.length, 2);
  for (const { html = '', text } of mailer.mails) {
    const links = [...html.matchAll(/ href="([^"]*)"/g), ...text.matchAll(/(https?:\/\/\S+)/g)].map(([, link]) => link);
    assert.equal(links.length, 4);
    for (const link of links) assert.match(link ?? '', /^https:\/\/news\.example\/harbor-ledger\/subscribe\//);
    assert.match(html, /The paper is private/);
  }
});

test('no name and no headline writes a header of its own', async (t) => {
  const { app, folder } = stand(t);
  const nameplate = 'Harbor", <evil@example.net>, "Ledger; =?UTF-8?Q?=0D=0ABcc:_x@example.net?=';
  createPaper(app, { nameplate });
  confirmedReader(app, 'ada@example.org', instant);
  const headline = `=?UTF-8?Q?=0D=0ABcc:_x@example.net?= ${'long '.repeat(30)}end`.slice(0, 190);
  publish(app, 'twelve', { headline });
  queueAll(app);
  await outboxSender(app).idle();
  const [name = ''] = readdirSync(join(folder, 'var/outbox'));
  const raw = readFileSync(join(folder, 'var/outbox', name));
  const email = await parsed({ raw });
  assert.deepEqual(
    email.to?.map(({ address }) => address),
    ['ada@example.org'],
  );
  assert.equal(email.from?.address, 'no-reply@news.example');
  assert.deepEqual([email.cc ?? [], email.bcc ?? []], [[], []]);
  assert.deepEqual(
    email.headers.map(({ key }) => key).sort(),
    [...new Set(email.headers.map(({ key }) => key))].sort(),
    'no header comes twice',
  );
  assert.ok(!email.headers.some(({ key }) => key === 'bcc'));
  const head = raw.toString('latin1').split(/\r?\n\r?\n/)[0] ?? '';
  for (const line of head.split(/\r?\n/)) assert.ok(line.length <= 998);
});
