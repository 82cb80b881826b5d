import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { makePaperKey } from '../../src/desk/papers/paper-keys.ts';
import { appContextIn, type Scope, tempFolder } from '../support/app-context.ts';
import { ask } from '../support/http.ts';
import { copyPaper } from '../support/papers.ts';
import { copyDemo, DEMO_ORIGINS, until } from '../support/program.ts';
import { shout } from '../support/raw.ts';
import { type ServingHere, serveHere } from '../support/serve-here.ts';

const PAPER = '/the-plumb-line';
const DOOR = `${PAPER}/api/v1/subscribers`;
const SECTIONS = ['Time', 'Measures', 'Letters', 'Networks', 'Proof'];

/** A served folder with the keys of its paper. */
interface Stand extends ServingHere {
  folder: string;
  scope: Scope;
  keys: Record<'read' | 'agent' | 'admin', string>;
}

async function stand(t: TestContext, more: Record<string, string> = {}, hasQuiet = false): Promise<Stand> {
  // Ended last to first: the server may write mails until it is gone, and its folder goes after it.
  const endings: (() => unknown)[] = [];
  const scope = { after: (work: () => unknown) => void endings.push(work) };
  t.after(async () => {
    for (const end of endings.reverse()) await end();
  });
  const folder = tempFolder(scope);
  copyDemo(folder);
  if (hasQuiet) {
    copyPaper(
      folder,
      'the-leading-light',
      'quiet-paper',
      (yaml) => `${yaml.replace('paper_public: true', 'paper_public: false')}\nurl: http://quiet.example\n`,
    );
  }
  // The addresses for which the pages were pressed: tests ask the server at its own.
  const serving = await serveHere(scope as TestContext, folder, { ...DEMO_ORIGINS, ...more });
  const key = (level: string) => keyOf(scope, folder, 'the-plumb-line', level);
  return { ...serving, folder, scope, keys: { read: key('read'), agent: key('agent'), admin: key('admin') } };
}

/** Makes a key beside the running server. */
function keyOf(t: Scope, folder: string, paper: string, level: string): string {
  return makePaperKey(appContextIn(t, folder, { now: Date.now() }), paper, { level, name: 'Test' }).key;
}

interface Sending {
  key?: string;
  body?: unknown;
  form?: Record<string, string> | [string, string][];
  method?: string;
  headers?: Record<string, string>;
}

/** Sends, by POST unless it says otherwise, a body as JSON or a form. */
async function send(url: string, path: string, { key, body, form, method = 'POST', headers = {} }: Sending = {}) {
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(form === undefined ? {} : { body: new URLSearchParams(form) }),
    redirect: 'manual',
  });
  const text = await response.text();
  const json = /json/.test(response.headers.get('content-type') ?? '') ? JSON.parse(text) : null;
  return { status: response.status, headers: response.headers, text, json };
}

/** Says that a body of 2 MB follows, and reads the answer before sending it. */
function sendTooMuch(url: string, path: string): Promise<{ status: number; text: string }> {
  const { hostname, port } = new URL(url);
  const headers = { 'Content-Type': 'application/json', 'Content-Length': '2000000' };
  return new Promise((resolve, reject) => {
    const sending = request({ hostname, port, path, method: 'POST', headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => {
        sending.destroy();
        resolve({ status: response.statusCode ?? 0, text });
      });
    });
    sending.on('error', reject);
    sending.flushHeaders();
  });
}

/** The mails of the outbox, the oldest first. */
function outbox(folder: string): string[] {
  const path = join(folder, 'var/outbox');
  try {
    return readdirSync(path)
      .filter((name) => name.endsWith('.eml'))
      .sort()
      .map((name) => readFileSync(join(path, name), 'utf8').replace(/=\n/g, '').replace(/=3D/g, '='));
  } catch {
    return [];
  }
}

/** The link of the newest mail to an address, once as many as `count` went there. */
function linkTo(folder: string, email: string, count = 1): Promise<URL> {
  return until(() => {
    const mails = outbox(folder).filter((mail) => mail.includes(`To: ${email}\n`));
    const link = /https?:\/\/\S+\/subscribe\/confirm\?token=\S+/.exec(mails[count - 1] ?? '')?.[0];
    return link === undefined ? null : new URL(link);
  });
}

async function confirmed({ url, folder }: Pick<Stand, 'url' | 'folder'>, email: string, count = 1): Promise<URL> {
  const link = await linkTo(folder, email, count);
  const { status, json } = await send(url, link.pathname, { body: { token: link.searchParams.get('token') } });
  assert.equal(status, 200);
  return new URL(json.manage_url);
}

test('every order that is malformed is refused, with the member at fault named', async (t) => {
  const { url, keys, folder } = await stand(t);
  const email = 'reader@example.org';
  // With a key, orders are not counted; without, this many would be too many.
  const key = keys.read;
  const refusals: [Sending, number, string, string?][] = [
    [{ body: {} }, 400, 'invalid_request', 'email'],
    [{ body: [] }, 400, 'invalid_request', 'body'],
    [{ body: 'null' }, 400, 'invalid_request', 'body'],
    [{ body: '{' }, 400, 'invalid_request', 'body'],
    [{ body: { email, extra: 1 } }, 400, 'invalid_request', 'extra'],
    [{ body: { email, cadence: 'hourly' } }, 400, 'invalid_request', 'cadence'],
    [{ body: { email, cadence: null } }, 400, 'invalid_request', 'cadence'],
    [{ body: { email, sections: 'Time' } }, 400, 'invalid_request', 'sections'],
    [{ body: { email, sections: [] } }, 400, 'invalid_request', 'sections'],
    [{ body: { email, sections: ['Time', 'Sport'] } }, 400, 'invalid_request', 'sections'],
    [{ body: { email, sections: [7] } }, 400, 'invalid_request', 'sections'],
    [{ body: { email, cast: 'yes' } }, 400, 'invalid_request', 'cast'],
    [{ body: { email: [email] } }, 400, 'invalid_request', 'email'],
    [{ form: { cadence: 'daily' } }, 400, 'invalid_request', 'email'],
    [
      {
        form: [
          ['email', email],
          ['email', 'other@example.org'],
        ],
      },
      400,
      'invalid_request',
      'email',
    ],
    [{ form: { email, cadence: 'hourly' } }, 400, 'invalid_request', 'cadence'],
    [{ form: { email, sections: 'Sport' } }, 400, 'invalid_request', 'sections'],
    [{ form: { email, cast: 'maybe' } }, 400, 'invalid_request', 'cast'],
    [{}, 400, 'invalid_request', 'email'],
    [{ body: email, headers: { 'Content-Type': 'text/plain' } }, 415, 'unsupported_media_type'],
    [{ body: 'x', headers: { 'Content-Type': 'multipart/form-data; boundary=x' } }, 415, 'unsupported_media_type'],
  ];
  for (const bad of [
    '',
    'reader',
    'reader@',
    '@example.org',
    'a b@example.org',
    'a@b',
    `${'a'.repeat(300)}@example.org`,
    'reader@example.org\n',
    'reader@example.org\r\nBcc: x@example.org',
    'reader@[127.0.0.1]',
    'reader@localhost',
    'réader@example.org',
    'reader@exa_mple.org',
    'reader@-x.org',
    'reader@1.2.3.4',
  ]) {
    refusals.push([{ body: { email: bad } }, 400, 'invalid_request', 'email']);
  }
  assert.equal((await sendTooMuch(url, DOOR)).status, 413);
  for (const [sending, status, error, field] of refusals) {
    const answer = await send(url, DOOR, { key, ...sending });
    const what = JSON.stringify(sending).slice(0, 120);
    assert.equal(answer.status, status, what);
    assert.equal(answer.json.error, error, what);
    if (field !== undefined) assert.equal(answer.json.field, field, what);
    assert.ok(answer.json.message.length < 400, what);
  }
  assert.deepEqual((await send(url, DOOR, { key, method: 'GET' })).json, { count: 0, confirmed: 0 });
  assert.deepEqual(outbox(folder), []);
  const put = await send(url, DOOR, { key, method: 'PUT', body: {} });
  assert.equal(put.status, 405);
  assert.equal(put.headers.get('allow'), 'GET, HEAD, OPTIONS, POST');
  const options = await send(url, `${PAPER}/subscribe/confirm`, { method: 'OPTIONS' });
  assert.deepEqual([options.status, options.headers.get('allow')], [204, 'GET, HEAD, OPTIONS, POST']);
  assert.equal(options.headers.get('access-control-allow-methods'), null, 'pages elsewhere may not ask');
  for (const name of ['reader%40exämple.org', 'Reader@EXAMPLE.org']) {
    assert.equal((await send(url, DOOR, { key, body: { email: decodeURIComponent(name) } })).status, 202);
  }
});

test('the response never reveals who subscribes', async (t) => {
  const { url, folder, keys } = await stand(t);
  const order = (email: string) => send(url, DOOR, { body: { email } });
  const fresh = await order('new@example.org');
  assert.equal(fresh.status, 202);
  assert.equal(fresh.json.status, 'pending');
  await order('kept@example.org');
  const manage = await confirmed({ url, folder }, 'kept@example.org');
  await order('gone@example.org');
  const gone = await confirmed({ url, folder }, 'gone@example.org');
  const end = { token: gone.searchParams.get('token') };
  assert.equal((await send(url, `${PAPER}/subscribe/unsubscribe`, { body: end })).json.status, 'unsubscribed');
  for (const email of ['new@example.org', 'kept@example.org', 'gone@example.org', 'NEW@example.org']) {
    const answer = await order(email);
    assert.equal(answer.status, 202);
    assert.equal(answer.text, fresh.text);
    const varying = new Set(['date', 'x-request-id']);
    const headers = ({ headers: all }: typeof fresh) => [...all].filter(([name]) => !varying.has(name));
    assert.deepEqual(headers(answer), headers(fresh));
  }
  assert.equal(fresh.headers.get('cache-control'), 'private, no-store');
  assert.equal(fresh.headers.get('access-control-allow-origin'), '*');
  // An order by anybody leaves a confirmed reader's choices alone.
  await send(url, DOOR, { body: { email: 'kept@example.org', cadence: 'instant', cast: false } });
  const page = await send(url, manage.pathname + manage.search, { method: 'GET' });
  assert.match(page.text, /value="daily" checked/);
  const { json } = await send(url, DOOR, { key: keys.admin, method: 'GET' });
  assert.deepEqual(
    json.subscribers.map(({ email, confirmed_at, cadence }: Record<string, string>) => [
      email,
      !!confirmed_at,
      cadence,
    ]),
    [
      ['new@example.org', false, 'daily'],
      ['kept@example.org', true, 'daily'],
      ['gone@example.org', false, 'daily'],
    ],
  );
});

test('from the order to the end: only buttons change anything', async (t) => {
  const { url, folder, keys } = await stand(t);
  const email = 'Reader@example.org';
  await send(url, DOOR, { body: { email, cadence: 'weekly', sections: ['Time', 'Proof'], cast: false } });
  const link = await linkTo(folder, email);
  const [mail = ''] = outbox(folder);
  assert.match(mail, /^From: The Plumb Line <[^>]+>$/m);
  assert.match(mail, /^Message-ID: <[0-9a-z]{26}@localhost>$/m);
  const counts = async () => (await send(url, DOOR, { key: keys.read, method: 'GET' })).json;

  // A link scanner fetches whatever it finds.
  for (const method of ['GET', 'HEAD', 'GET']) {
    const answer = await ask(url, link.pathname + link.search, {}, method);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['referrer-policy'], 'no-referrer');
    assert.equal(answer.headers['cache-control'], 'private, no-store');
    assert.equal(answer.headers['x-robots-tag'], 'noindex');
    if (method === 'GET') {
      assert.match(answer.text, /<meta name="robots" content="noindex">/);
      assert.match(answer.text, /Reader@example\.org: one message a week, from Time, Proof, without the video edition/);
    }
  }
  assert.deepEqual(await counts(), { count: 1, confirmed: 0 });
  const token = link.searchParams.get('token') ?? '';
  assert.ok(token.length >= 43);
  // The token in the address alone is not a press of the button.
  assert.equal((await send(url, link.pathname + link.search, { form: {} })).status, 400);
  assert.equal((await send(url, link.pathname, { body: { token: `${token}x` } })).status, 404);
  assert.deepEqual(await counts(), { count: 1, confirmed: 0 });

  const page = await send(url, link.pathname, { form: { token }, headers: { Accept: 'text/html' } });
  assert.equal(page.status, 200);
  assert.match(page.text, /You are subscribed/);
  assert.deepEqual(await counts(), { count: 1, confirmed: 1 });
  const again = await send(url, link.pathname, { body: { token } });
  assert.equal(again.status, 200, 'a second press is no fault');
  const manage = new URL(again.json.manage_url);
  const own = manage.searchParams.get('token') ?? '';

  for (const name of ['manage', 'unsubscribe']) {
    for (const method of ['GET', 'HEAD']) {
      assert.equal((await ask(url, `${PAPER}/subscribe/${name}${manage.search}`, {}, method)).status, 200);
    }
  }
  assert.deepEqual(await counts(), { count: 1, confirmed: 1 });
  const change = (sending: Sending) => send(url, manage.pathname, sending);
  const { json: changed } = await change({ body: { token: own, cadence: 'instant' } });
  assert.deepEqual(changed, {
    status: 'confirmed',
    email,
    cadence: 'instant',
    sections: ['Time', 'Proof'],
    cast: false,
  });
  const boxes: [string, string][] = [
    ['token', own],
    ['cadence', 'daily'],
    ['cast', 'true'],
    ['boxes', 'sections cast'],
  ];
  const unticked = await change({ form: boxes, headers: { Accept: 'text/html' } });
  assert.equal(unticked.status, 400);
  assert.match(unticked.text, /id="sections-problem">None is ticked; tick one or more</);
  assert.match(unticked.text, new RegExp(`name="token" value="${own}"`));
  const all = SECTIONS.map((name): [string, string] => ['sections', name]);
  const saved = await change({ form: [...boxes, ...all], headers: { Accept: 'text/html' } });
  assert.equal(saved.status, 200);
  assert.match(saved.text, /Saved/);
  for (const body of [
    { token: own, sections: ['Sport'] },
    { token: own, cadence: 'hourly' },
    { token: own, email: 'x' },
    {},
  ]) {
    assert.equal((await change({ body })).status, 400, JSON.stringify(body));
  }
  assert.equal((await change({ body: { token, cadence: 'daily' } })).status, 404, 'a confirming link changes nothing');

  // A body that nobody sent lacks its token, however its end is told.
  const host = new URL(url).host;
  const bare = (path: string, rest: string) =>
    shout(url, `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${rest}`);
  for (const name of ['confirm', 'manage', 'unsubscribe']) {
    for (const rest of ['\r\n', 'Content-Length: 0\r\n\r\n', 'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n']) {
      const answer = await bare(`${PAPER}/subscribe/${name}`, rest);
      assert.match(answer, /^HTTP\/1.1 400 /, `${name} ${JSON.stringify(rest)}: ${answer}`);
      assert.match(answer, /"error":"invalid_request","message":"token[^"]*missing[^"]*","field":"token"/);
      const asPage = await bare(`${PAPER}/subscribe/${name}`, `Accept: text/html\r\n${rest}`);
      assert.match(asPage, /^HTTP\/1.1 400 [\s\S]*oken[^<]*is missing/, `${name} ${JSON.stringify(rest)}`);
    }
  }

  // A mail program's own button (RFC 8058).
  const oneClick = (sending: Sending) => send(url, `${PAPER}/subscribe/unsubscribe${manage.search}`, sending);
  assert.equal((await oneClick({ form: { 'List-Unsubscribe': 'Yes' } })).status, 400);
  assert.deepEqual(await counts(), { count: 1, confirmed: 1 });
  const clicked = await oneClick({ form: { 'List-Unsubscribe': 'One-Click' } });
  assert.equal(clicked.status, 200);
  assert.deepEqual(await counts(), { count: 0, confirmed: 0 });
  const form = 'List-Unsubscribe=One-Click';
  const chunked = `Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n${form.length.toString(16)}\r\n${form}\r\n0\r\n\r\n`;
  assert.match(await bare(`${PAPER}/subscribe/unsubscribe${manage.search}`, chunked), /^HTTP\/1.1 200 /);
  const parts = new FormData();
  parts.set('List-Unsubscribe', 'One-Click');
  const repeated = await fetch(`${url}${PAPER}/subscribe/unsubscribe${manage.search}`, { method: 'POST', body: parts });
  assert.equal(repeated.status, 200, 'ending twice is no fault');
  assert.match((await send(url, manage.pathname + manage.search, { method: 'GET' })).text, /You are not subscribed/);
  assert.equal((await change({ body: { token: own, cadence: 'daily' } })).status, 404);
  assert.equal((await send(url, link.pathname, { body: { token } })).status, 404, 'an old link does not bring it back');

  // Not by an admin, and by an order alone neither: by the reader's own confirmation.
  const { json } = await send(url, DOOR, { key: keys.admin, body: { emails: [email] } });
  assert.deepEqual(json.results, [{ email, status: 'suppressed' }]);
  assert.equal(outbox(folder).length, 1);
  await send(url, DOOR, { body: { email } });
  const second = await confirmed({ url, folder }, email, 2);
  assert.deepEqual(await counts(), { count: 1, confirmed: 1 });
  assert.equal(second.searchParams.get('token'), own, 'the foot of old mails still works');
  assert.equal((await oneClick({ form: { 'List-Unsubscribe': 'One-Click' } })).status, 200);
  assert.deepEqual(await counts(), { count: 0, confirmed: 0 });
});

test('a form is answered with a page or with JSON, as requested', async (t) => {
  const { url, folder, keys } = await stand(t);
  const people = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
  const fields: [string, string][] = [
    ['email', 'p@example.org'],
    ['cadence', 'instant'],
    ['sections', 'Time'],
    ['sections', 'Letters'],
    ['boxes', 'sections cast'],
    ['submit', 'x'],
  ];
  const page = await send(url, DOOR, { form: fields, headers: people });
  assert.equal(page.status, 202);
  assert.match(page.headers.get('content-type') ?? '', /^text\/html/);
  assert.match(page.text, /Check your e-mail/);
  assert.match(page.text, /The Plumb Line/);
  const program = await send(url, DOOR, { form: { email: 'q@example.org' } });
  assert.equal(program.json.status, 'pending');
  const asJson = await send(url, DOOR, { body: { email: 'r@example.org' }, headers: people });
  assert.equal(asJson.json.status, 'pending');
  const wrong = await send(url, DOOR, { form: { email: 'nobody' }, headers: people });
  assert.equal(wrong.status, 400);
  const at = (page: string) => /id="(\w+)-problem">([^<]+)/.exec(page)?.slice(1);
  assert.match(at(wrong.text)?.join(' ') ?? '', /^email &quot;nobody&quot; is not of the form/);
  assert.match(wrong.text, /<input [^>]*value="nobody"[^>]*aria-invalid="true"/);
  // What was chosen stays chosen.
  const bare = await send(url, DOOR, {
    form: { email: 'x@example.org', cadence: 'weekly', boxes: 'sections cast', cast: 'true' },
    headers: people,
  });
  assert.deepEqual([bare.status, at(bare.text)], [400, ['sections', 'None is ticked; tick one or more']]);
  assert.match(bare.text, /value="x@example.org"[\s\S]*value="weekly" checked[\s\S]*name="cast" value="true" checked/);
  assert.equal((await send(url, DOOR, { form: { email: 'nobody' } })).json.field, 'email');
  const { json } = await send(url, DOOR, { key: keys.admin, method: 'GET' });
  const choices = json.subscribers.map(({ email, cadence, sections, cast }: Record<string, unknown>) => [
    email,
    cadence,
    sections,
    cast,
  ]);
  assert.deepEqual(choices, [
    ['p@example.org', 'instant', ['Time', 'Letters'], false],
    ['q@example.org', 'daily', SECTIONS, true],
    ['r@example.org', 'daily', SECTIONS, true],
  ]);
  await linkTo(folder, 'r@example.org');
  const stale = await send(url, `${PAPER}/subscribe/confirm?token=none`, { method: 'GET', headers: people });
  assert.equal(stale.status, 404);
  assert.match(stale.text, /subscribe again to get a new one/);
  assert.equal((await send(url, `${PAPER}/subscribe/confirm`, { method: 'GET', headers: people })).status, 400);
  const static_ = await send(url, `${PAPER}/subscribe/`, { method: 'GET', headers: people });
  assert.match(static_.text, /id="order"/);
});

test('an admin orders for others', async (t) => {
  const { url, folder, keys } = await stand(t);
  const order = (body: unknown, key?: string, headers = {}) =>
    send(url, DOOR, { body, headers, ...(key === undefined ? {} : { key }) });
  const emails = ['a@example.org'];
  assert.equal((await order({ emails })).json.error, 'key_required');
  for (const level of ['read', 'agent'] as const)
    assert.equal((await order({ emails }, keys[level])).json.error, 'level_too_low');
  assert.equal(
    (
      await order(
        { emails },
        keys.admin.replace(/.$/, (x) => (x === 'a' ? 'b' : 'a')),
      )
    ).status,
    401,
  );
  const many = Array.from({ length: 21 }, (_, n) => `reader-${n}@example.org`);
  const webhook = 'https://hooks.example.com/x';
  const refusals: [unknown, string][] = [
    [{ emails: many }, 'emails'],
    [{ emails: [] }, 'emails'],
    [{ emails: 'a@example.org' }, 'emails'],
    [{ emails: [1] }, 'emails'],
    [{ emails, email: 'a@example.org' }, 'email'],
    [{ emails, cadence: 'hourly' }, 'cadence'],
    [{ emails, sections: ['Sport'] }, 'sections'],
    ...[
      'http://hooks.example.com/',
      'https://localhost/',
      'https://127.0.0.1/',
      'https://2130706433/',
      'https://[::1]/',
      'https://[::ffff:10.0.0.1]/',
      'https://169.254.169.254/latest',
      'https://printer.local/',
      'https://printer/',
      'https://u:p@hooks.example.com/',
      'ftp://hooks.example.com/',
      'hooks',
      '',
      `https://hooks.example.com/${'x'.repeat(2000)}`,
    ].map((bad): [unknown, string] => [{ emails, webhook: bad }, 'webhook']),
  ];
  for (const [body, field] of refusals) {
    const { status, json } = await order(body, keys.admin);
    assert.equal(status, 400, JSON.stringify(body).slice(0, 100));
    assert.equal(json.field, field, JSON.stringify(body).slice(0, 100));
  }
  assert.deepEqual((await send(url, DOOR, { key: keys.admin, method: 'GET' })).json.subscribers, []);

  const twenty = [...many.slice(0, 18), 'nobody', 'reader-0@EXAMPLE.org'];
  const first = await order({ emails: twenty, webhook, cadence: 'instant' }, keys.admin, { 'Idempotency-Key': 'one' });
  assert.equal(first.status, 200);
  const { results } = first.json;
  assert.deepEqual(
    results.map(({ email }: { email: string }) => email),
    twenty,
  );
  assert.equal(results[18].status, 'invalid');
  assert.match(results[18].message, /name@example\.org/);
  assert.equal(results[18].webhook_secret, undefined);
  assert.equal(results[19].webhook_secret, results[0].webhook_secret);
  for (const { status, webhook_secret } of results.slice(0, 18)) {
    assert.equal(status, 'pending');
    assert.match(webhook_secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  }
  const repeated = await order({ emails: twenty, webhook, cadence: 'instant' }, keys.admin, {
    'Idempotency-Key': 'one',
  });
  assert.deepEqual(repeated.json.results, results);
  assert.equal((await order({ emails }, keys.admin, { 'Idempotency-Key': 'one' })).status, 422);
  await linkTo(folder, 'reader-17@example.org');
  assert.equal(outbox(folder).length, 18);
  await confirmed({ url, folder }, 'reader-3@example.org');
  const { json } = await order({ emails: ['Reader-3@example.org'], cadence: 'weekly' }, keys.admin);
  assert.deepEqual(json.results, [{ email: 'Reader-3@example.org', status: 'confirmed' }]);

  const page = (query: string) => send(url, `${DOOR}?${query}`, { key: keys.admin, method: 'GET' });
  const seen: { email: string; webhook?: string; webhook_secret?: string; cadence: string }[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { json: list, headers } = await page(`limit=7${cursor === '' ? '' : `&cursor=${cursor}`}`);
    assert.equal(list.count, list.subscribers.length);
    assert.deepEqual([list.total, list.confirmed, list.desk], [18, 1, 'the-plumb-line']);
    assert.equal(headers.get('link') !== null, list.next_cursor !== null);
    seen.push(...list.subscribers);
    cursor = list.next_cursor;
  }
  assert.deepEqual(
    seen.map(({ email }) => email),
    many.slice(0, 18),
  );
  assert.deepEqual(
    seen.map(({ webhook: at, webhook_secret, cadence }) => [at, webhook_secret, cadence]),
    results.slice(0, 18).map(({ webhook_secret }: Record<string, string>) => [webhook, webhook_secret, 'instant']),
  );
  assert.equal((await page('cursor=nonsense')).status, 400);
  assert.equal((await page('limit=many')).status, 400);
  assert.equal((await page('limit=0')).json.count, 1);
  assert.equal((await send(url, DOOR, { method: 'GET' })).json.error, 'key_required');
  for (const level of ['read', 'agent'] as const) {
    const { json: counts } = await send(url, DOOR, { key: keys[level], method: 'GET' });
    assert.deepEqual(counts, { count: 18, confirmed: 1 });
  }
});

test('one address is exported and erased, and no log holds it', async (t) => {
  const { url, folder, keys, said } = await stand(t, { LOG_LEVEL: 'trace' });
  await send(url, DOOR, { body: { email: 'Hide.Me@example.org', cadence: 'weekly' } });
  await confirmed({ url, folder }, 'Hide.Me@example.org');
  const at = (text: string) => `${DOOR}/${text}`;
  const admin = { key: keys.admin };
  for (const method of ['GET', 'DELETE']) {
    assert.equal((await send(url, at('hide.me@example.org'), { method })).status, 401);
    assert.equal((await send(url, at('hide.me@example.org'), { method, key: keys.agent })).status, 403);
    for (const path of ['nobody@example.org', 'nonsense', 'a%00@example.org', 'x'.repeat(2_000)]) {
      assert.equal((await send(url, at(path), { method, ...admin })).status, 404, path);
    }
  }
  const { json: kept } = await send(url, at('hide.me%40EXAMPLE.org'), { method: 'GET', ...admin });
  assert.equal(kept.subscriber.email, 'Hide.Me@example.org');
  assert.equal(kept.suppression, null);
  assert.deepEqual(
    kept.mails.map(({ kind, state }: Record<string, string>) => [kind, state]),
    [['confirm', 'sent']],
  );
  const erase = () =>
    send(url, at('hide.me%40example.org'), { method: 'DELETE', ...admin, headers: { 'Idempotency-Key': 'e' } });
  assert.equal((await erase()).json.erased, true);
  assert.deepEqual((await erase()).json.email, 'hide.me@example.org');
  assert.equal((await send(url, at('hide.me@example.org'), { method: 'DELETE', ...admin })).status, 404);
  assert.deepEqual((await send(url, DOOR, { key: keys.read, method: 'GET' })).json, { count: 0, confirmed: 0 });
  assert.equal(
    (await send(url, DOOR, { ...admin, body: { emails: ['hide.me@example.org'] } })).json.results[0].status,
    'pending',
  );
  await linkTo(folder, 'hide.me@example.org');
  assert.match(said.stderr, /"path":"\/the-plumb-line\/api\/v1\/subscribers\/\{email\}"/);
  // The link for the first seat is for the operator, who reads the log.
  assert.doesNotMatch(said.stderr.replaceAll(/.*\/console\/first\?token=.*/g, ''), /hide\.me|example\.org|token=/i);
});

test('a private paper’s readers have their pages, and nobody else learns of it', async (t) => {
  const { url, folder, scope } = await stand(t, {}, true);
  const key = keyOf(scope, folder, 'quiet-paper', 'admin');
  const pairs = [
    ['/api/v1/subscribers', { body: { email: 'a@example.org' } }],
    ['/api/v1/subscribers', { form: { email: 'a@example.org' }, headers: { Accept: 'text/html' } }],
    ['/api/v1/subscribers', { method: 'GET' }],
    ...['confirm', 'manage', 'unsubscribe'].flatMap((name): [string, Sending][] =>
      ['text/html', 'application/json'].flatMap((Accept): [string, Sending][] => [
        [`/subscribe/${name}?token=x`, { method: 'GET', headers: { Accept } }],
        [`/subscribe/${name}`, { method: 'GET', headers: { Accept } }],
        [`/subscribe/${name}?token=%ff`, { method: 'GET', headers: { Accept } }],
        [`/subscribe/${name}`, { body: { token: 'x' }, headers: { Accept } }],
        [`/subscribe/${name}`, { form: {}, headers: { Accept } }],
        [`/subscribe/${name}`, { method: 'PUT', headers: { Accept } }],
      ]),
    ),
  ] as [string, Sending][];
  for (const [path, sending] of pairs) {
    const [hidden, absent] = await Promise.all(
      ['quiet-paper', 'absent-paper'].map((slug) => send(url, `/${slug}${path}`, sending)),
    );
    const told = (answer: typeof hidden) => [
      answer?.status,
      answer?.text,
      [...(answer?.headers ?? [])].filter(([name]) => name !== 'date' && name !== 'x-request-id'),
    ];
    assert.deepEqual(told(hidden), told(absent), `${path} ${JSON.stringify(sending).slice(0, 80)}`);
    assert.ok((hidden?.status ?? 0) >= 400);
  }
  assert.equal(
    (await send(url, '/quiet-paper/api/v1/subscribers', { key, body: { email: 'a@example.org' } })).status,
    202,
  );
  const link = await linkTo(folder, 'a@example.org');
  assert.equal((await send(url, link.pathname + link.search, { method: 'GET' })).status, 200);
  const manage = await confirmed({ url, folder }, 'a@example.org');
  assert.equal((await send(url, manage.pathname + manage.search, { method: 'GET' })).status, 200);
  const elsewhere = `${PAPER}/subscribe/manage${manage.search}`;
  assert.equal((await send(url, elsewhere, { method: 'GET' })).status, 404, 'a token is of one paper');
});

test('thirty orders a minute from one address, and a key is not counted', async (t) => {
  const { url, keys } = await stand(t);
  const statuses = [];
  for (let n = 0; n < 31; n++) statuses.push((await send(url, DOOR, { body: { email: `n${n}@example.org` } })).status);
  assert.deepEqual(new Set(statuses.slice(0, 30)), new Set([202]));
  assert.equal(statuses[30], 429);
  const page = await send(url, DOOR, { form: { email: 'x@example.org' }, headers: { Accept: 'text/html' } });
  assert.equal(page.status, 429);
  assert.match(page.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
  assert.match(page.text, /<h1>This did not go through<\/h1>/);
  assert.match(page.text, /try again in \d+ seconds\./);
  assert.doesNotMatch(page.text, /use a key/, 'which a reader does not have');
  assert.equal((await send(url, DOOR, { key: keys.read, body: { email: 'x@example.org' } })).status, 202);
  assert.equal((await send(url, DOOR, { method: 'GET', key: keys.read })).json.count, 31);
});
