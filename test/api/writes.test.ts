import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import Database from 'libsql';
import { appContextIn, tempFolder, treeOf } from '../support/app-context.ts';
import { freePort } from '../support/free-port.ts';
import { assertSameTree } from '../support/full-press.ts';
import type { Answer } from '../support/http.ts';
import { run, serve, until } from '../support/program.ts';
import { dial } from '../support/raw.ts';
import { send } from '../support/send.ts';
import { type ServingHere, serveHere } from '../support/serve-here.ts';
import { shared } from '../support/shared.ts';
import { enterPapers, type Keys, storyBody } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const PAPER = 'the-tide';
const API = `/${PAPER}/api/v1`;

interface Desk extends ServingHere {
  folder: string;
  keys: Keys;
  /** Asks with a key; an admin's when none is named. */
  ask(method: string, path: string, body?: object, headers?: Record<string, string>): Promise<Answer>;
}

async function openDesk(t: Pick<TestContext, 'after'>, more: Record<string, string> = {}): Promise<Desk> {
  const { folder, keys } = await enterPaper(t);
  const serving = await serveHere(t, folder, more);
  return { ...serving, folder, keys, ask: askerOf(serving, keys) };
}

async function enterPaper(t: Pick<TestContext, 'after'>): Promise<Pick<Desk, 'folder' | 'keys'>> {
  const folder = tempFolder(t);
  const keys = (await enterPapers(folder, [{ slug: PAPER }])).get(PAPER);
  assert.ok(keys);
  return { folder, keys };
}

function askerOf({ url }: { url: string }, keys: Keys): Desk['ask'] {
  return (method, path, body, headers = {}) =>
    send(url, {
      method,
      path: API + path,
      headers: { 'x-nrf-key': keys.admin, ...headers },
      ...(body === undefined ? {} : { body }),
    });
}

/** The desk of the tests that leave one another alone: each has pieces and keys of its own. */
const desk = shared((t) => openDesk(t));

test('of two simultaneous approvals of a revision one is signed, and the other learns who was first', async () => {
  const { ask } = desk();
  const { story } = JSON.parse((await ask('POST', '/stories', storyBody('neap-tide'))).text);
  const answers = await Promise.all(
    ['Ida', 'Ola'].map((name) =>
      ask('POST', `/stories/${story.id}/review`, { revision: 1, decision: 'approve', name }),
    ),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
  const bodies = answers.map(({ text }) => JSON.parse(text));
  const [first, second] = 'error' in bodies[0] ? bodies.reverse() : bodies;
  assert.ok(second.message.startsWith(`${first.story.review.by} approved revision 1 of neap-tide at `), second.message);
});

test('of two revisions of one piece from the same revision one is filed', async () => {
  const { ask } = desk();
  for (let revision = 1; revision <= 5; revision++) {
    const answers = await Promise.all(
      ['one', 'other'].map((word) =>
        ask('PUT', '/stories/high-water', { ...storyBody('high-water'), revision, dek: `${word} ${revision}` }),
      ),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
    const { story } = JSON.parse(answers.find(({ status }) => status === 200)?.text ?? '');
    assert.equal(story.revision, revision + 1);
    const { dek } = JSON.parse((await ask('GET', '/stories/high-water')).text);
    assert.equal(dek, story.dek, 'what was answered 200 stands');
  }
});

test('a revision takes the body of a filing as it was sent, its air too', async () => {
  const { ask } = desk();
  const revise = (slug: string, more: object) => ask('PUT', `/stories/${slug}`, { ...storyBody(slug), ...more });
  const stateOf = async (answer: Promise<Answer>) => {
    const { status, text } = await answer;
    assert.equal(status, 200, text);
    return JSON.parse(text).story.state;
  };
  await ask('POST', '/stories', { ...storyBody('neap'), air: false });
  assert.equal(await stateOf(revise('neap', { revision: 1, dek: 'Second.', air: false })), 'draft');
  const later = new Date(Date.now() + 3_600_000).toISOString();
  assert.equal(await stateOf(revise('neap', { revision: 2, dek: 'Third.', air: later })), 'scheduled');
  assert.equal(await stateOf(revise('neap', { revision: 3, dek: 'Fourth.', air: true })), 'on_air');
  const thin = await revise('neap', { revision: 4, cited_facts: [], air: true });
  assert.equal(thin.status, 422);
  for (const [index, air] of [false, true, later, '2020-01-01T00:00:00Z'].entries()) {
    const again = { revision: 4 + index, dek: `Again, ${index}.`, air };
    assert.equal(await stateOf(revise('neap', again)), 'on_air', 'it stays as it is');
  }

  await ask('POST', '/stories', { ...storyBody('ebb'), air: false });
  const past = await revise('ebb', { revision: 1, dek: 'Second.', air: '2020-01-01T00:00:00Z' });
  assert.deepEqual([past.status, JSON.parse(past.text).field], [400, 'air']);
  const [fact] = storyBody('ebb').cited_facts;
  const short = await revise('ebb', { revision: 1, prose: 'One.[^1]', cited_facts: [fact], air: true });
  assert.equal(JSON.parse(short.text).problems[0].rule, 'source_floor');
  assert.equal(JSON.parse((await ask('GET', '/stories/ebb')).text).revision, 1, 'nothing of it was filed');
});

test('ten concurrent copies of a write have one effect', async () => {
  const { ask } = desk();
  const name = { 'idempotency-key': 'ten at once' };
  const body = { ...storyBody('ten-times'), slug: undefined, headline: 'Ten times', air: true };
  const answers = await Promise.all(Array.from({ length: 10 }, () => ask('POST', '/stories', body, name)));
  const said = answers.map(({ status, text }) => {
    const { story, proof } = JSON.parse(text);
    return { status, story, proof };
  });
  for (const answer of said) assert.deepEqual(answer, said[0]);
  assert.equal(said[0]?.status, 201);
  const again = () =>
    ask('POST', '/stories', { ...storyBody('once-more'), air: true }, { 'idempotency-key': 'one after the other' });
  const first = await again();
  assert.ok(JSON.parse(first.text).files > 0);
  const second = await again();
  assert.deepEqual([second.status, second.text], [201, first.text], 'and how many files it pressed');
  const { stories } = JSON.parse((await ask('GET', '/stories')).text) as { stories: { slug: string }[] };
  assert.deepEqual(
    stories.filter(({ slug }) => slug.startsWith('ten-times')).map(({ slug }) => slug),
    ['ten-times'],
  );
  assert.equal((await ask('POST', '/stories', { ...body, dek: 'Another.' }, name)).status, 422, 'another body');
  assert.equal(
    (await ask('PUT', '/stories/ten-times', { ...body, revision: 1, byte: 1 }, name)).status,
    400,
    'no such member',
  );
  assert.equal(
    (await ask('PUT', '/stories/ten-times', { ...storyBody('ten-times'), revision: 1 }, name)).status,
    422,
    'another door',
  );

  const later = { 'idempotency-key': 'after a failure' };
  const broken = { ...storyBody('tried-again'), byline: 'nobody' };
  assert.equal((await ask('POST', '/stories', broken, later)).status, 422);
  assert.equal((await ask('POST', '/stories', broken, later)).status, 422, 'a refusal is not kept');
  assert.equal((await ask('POST', '/stories', storyBody('tried-again'), later)).status, 201);
});

test('a completed write is confirmed even when its response cannot be stored whole', async (t) => {
  const { ask, folder } = await openDesk(t);
  const db = new Database(join(folder, 'var/broadsheet.db'));
  // The server may be writing.
  db.exec('PRAGMA busy_timeout = 30000');
  t.after(() => db.close());
  // What is kept first is part of the write; what the press came to is written over it.
  db.exec("CREATE TRIGGER no_room BEFORE UPDATE ON answers BEGIN SELECT RAISE(ABORT, 'no room'); END");
  const name = { 'idempotency-key': 'kept in part' };
  const body = { ...storyBody('kept-in-part'), air: true };
  const [first, again] = [await ask('POST', '/stories', body, name), await ask('POST', '/stories', body, name)];
  assert.deepEqual([first.status, again.status], [201, 201]);
  assert.equal(JSON.parse(again.text).story.id, JSON.parse(first.text).story.id);
});

test('a revision through the API is of the time at which it comes', async () => {
  const { ask } = desk();
  const { text } = await ask('POST', '/stories', { ...storyBody('tide'), air: true });
  const { id } = JSON.parse(text).story as { id: string };
  const change = { ...storyBody('tide'), dek: 'Another dek.', revision: 1, correction: 'The dek was wrong.' };
  const dated = await ask('PUT', `/stories/${id}`, { ...change, revised_at: '2019-01-01T00:00:00Z' });
  assert.deepEqual([dated.status, JSON.parse(dated.text).field], [400, 'revised_at'], dated.text);
  const before = Date.now();
  const { story } = JSON.parse((await ask('PUT', `/stories/${id}`, change)).text) as {
    story: { corrections: { at: string }[] };
  };
  const at = Date.parse(story.corrections[0]?.at ?? '');
  assert.ok(at >= before && at <= Date.now(), `${at}`);
});

test('a name of a write is the caller’s own', async () => {
  const { ask } = desk();
  const other = JSON.parse((await ask('POST', '/keys', { level: 'admin', name: 'Another hand' })).text).key;
  const name = { 'idempotency-key': 'shared' };
  assert.equal((await ask('POST', '/stories', storyBody('first-hand'), name)).status, 201);
  const { status } = await ask('POST', '/stories', storyBody('second-hand'), { ...name, 'x-nrf-key': other });
  assert.equal(status, 201);
  for (const bad of ['', 'x'.repeat(256), 'caf\u00e9']) {
    const refused = await ask('POST', '/stories', storyBody('never'), { 'idempotency-key': bad });
    assert.equal(refused.status, 400);
    assert.match(JSON.parse(refused.text).field, /^idempotency-key$/i);
  }
});

test('fifty concurrent filings leave no gap, no fault, and the tree of a full press', {
  skip: ONLY_WIDE,
}, async (t) => {
  const { ask, folder, url, stop } = await openDesk(t);
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      ask('POST', '/stories', { ...storyBody(`at-once-${index}`), air: index % 5 !== 0 }),
    ),
  );
  for (const { status, text } of answers) assert.equal(status, 201, text);
  const seqs = answers.map(({ text }) => JSON.parse(text).proof.generations[0].seq as number).sort((a, b) => a - b);
  assert.deepEqual(
    seqs,
    Array.from({ length: 50 }, (_, index) => index + 5),
  );
  for (const { text } of answers) {
    const { story, pressed, pressing } = JSON.parse(text);
    if (pressed) continue;
    assert.ok(pressing.startsWith(`${url}${API}/press/`), pressing);
    await until(async () =>
      JSON.parse((await ask('GET', pressing.slice((url + API).length))).text).pressed ? 1 : null,
    );
    if (story.state === 'on_air')
      assert.equal((await send(url, { path: `/${PAPER}/stories/${story.slug}/` })).status, 200);
  }
  assert.equal((await stop()).code, 0);
  await assertWhole(t, folder, url);
});

test('a write that waits for the press returns the address of its progress', { skip: ONLY_WIDE }, async (t) => {
  const { ask, folder, url } = await openDesk(t);
  const clock = { now: Date.now() };
  const {
    desk: { manifest },
  } = appContextIn(t, folder, clock).store;
  // Another machine has the paper's press in hand.
  assert.ok(manifest.acquireLease(PAPER, 'elsewhere:1', Date.now(), 30_000));
  const filed = await ask('POST', '/stories', { ...storyBody('kept-waiting'), air: true });
  assert.equal(filed.status, 201);
  const { pressed, pressing, files } = JSON.parse(filed.text);
  assert.deepEqual([pressed, files], [false, undefined]);
  assert.ok(pressing.startsWith(`${url}${API}/press/`), pressing);
  const isPressed = async () => JSON.parse((await ask('GET', pressing.slice((url + API).length))).text).pressed;
  assert.equal(await isPressed(), false);
  assert.equal((await ask('GET', '/stories/kept-waiting')).status, 200, 'the API tells it at once');
  for (const path of ['stories/kept-waiting/', 'stories/kept-waiting.md', 'embed/kept-waiting/']) {
    const early = await send(url, { path: `/${PAPER}/${path}`, headers: { accept: 'text/html' } });
    assert.deepEqual([early.status, early.headers['retry-after']], [503, '2'], `${path} is on its way`);
    assert.match(early.text, /<h1>Being pressed<\/h1>/);
  }
  assert.equal((await send(url, { path: `/${PAPER}/stories/never-written/` })).status, 404);
  // What changes no page waits for nobody, and tells of no press but its own.
  for (const [method, path, body] of [
    ['POST', '/keys', { level: 'read', name: 'for the library' }],
    ['POST', '/webhooks', { url: 'https://hooks.example/desk' }],
    ['POST', '/stories', storyBody('a-draft')],
  ] as const) {
    const made = JSON.parse((await ask(method, path, body)).text);
    assert.deepEqual([made.pressed, made.files, made.pressing], [true, 0, undefined], path);
  }
  // Asked for again what pages are to show: it is not on disk yet, though nothing changes any more.
  const { motto } = JSON.parse((await ask('GET', '/config')).text);
  const same = JSON.parse((await ask('PUT', '/config', { motto })).text);
  assert.deepEqual([same.pressed, same.pressing], [false, pressing]);
  manifest.releaseLease(PAPER, 'elsewhere:1');
  await until(async () => ((await isPressed()) ? true : null));
  assert.equal((await send(url, { path: `/${PAPER}/stories/kept-waiting/` })).status, 200);
});

test('a killed server loses nothing that it answered', { skip: ONLY_WIDE }, async (t) => {
  const port = String(await freePort());
  const { folder, keys } = await enterPaper(t);
  const killed = await serve(t, folder, { PORT: port });
  const { child, ended } = killed;
  const ask = askerOf(killed, keys);
  const filed: string[] = [];
  let number = 0;
  const file = async () => {
    while (number < 200) {
      const slug = `in-danger-${number++}`;
      const answer = await ask('POST', '/stories', { ...storyBody(slug), air: true }).catch(() => null);
      if (answer === null) return;
      assert.equal(answer.status, 201, answer.text);
      filed.push(slug);
      if (filed.length === 60) child.kill('SIGKILL');
    }
  };
  await Promise.all(Array.from({ length: 10 }, file));
  assert.equal((await ended).signal, 'SIGKILL');
  assert.ok(filed.length >= 60 && filed.length < 200, `${filed.length} were answered`);
  const { url, stop } = await serveHere(t, folder, { PORT: port });
  for (const slug of filed) {
    const story = await send(url, { path: `${API}/stories/${slug}` });
    assert.equal(story.status, 200, slug);
    assert.equal((await send(url, { path: `/${PAPER}/stories/${slug}/` })).status, 200, `the page of ${slug}`);
  }
  const proof = await send(url, { path: `${API}/stories/${filed[0]}/proof`, headers: { 'x-nrf-key': keys.read } });
  assert.equal(proof.status, 200);
  assert.equal((await stop()).code, 0);
  await assertWhole(t, folder, url);
});

test('a piece goes on air on time, also when the server was suspended', { skip: ONLY_WIDE }, async (t) => {
  const port = String(await freePort());
  const { ask, folder, url, stop } = await openDesk(t, { PORT: port });
  const soon = new Date(Date.now() + 3_000).toISOString();
  const later = new Date(Date.now() + 6_000).toISOString();
  const filed = await ask('POST', '/stories', { ...storyBody('soon'), air: soon });
  assert.equal(filed.status, 201, filed.text);
  const { state, scheduled_at, published_at } = JSON.parse(filed.text).story;
  assert.deepEqual([state, scheduled_at, published_at], ['scheduled', soon, null]);
  assert.equal((await ask('POST', '/stories', storyBody('later'))).status, 201);
  assert.equal((await ask('POST', '/stories/later/airing', { at: later })).status, 200);
  for (const at of [new Date(Date.now() - 1_000).toISOString(), '2026-11-20', 'now', 5]) {
    const refused = await ask('POST', '/stories/later/airing', { at });
    assert.equal(refused.status, 400, String(at));
    assert.equal(JSON.parse(refused.text).field, 'at');
    const filing = await ask('POST', '/stories', { ...storyBody('never'), air: at });
    assert.equal(filing.status, 400, String(at));
    assert.equal(JSON.parse(filing.text).field, 'air');
  }
  const stands = () => send(url, { path: `${API}/stories/soon` });
  const early = await stands();
  if (Date.now() < Date.parse(soon)) assert.equal(early.status, 404);
  await until(async () => ((await stands()).status === 200 ? true : null));
  assert.equal(JSON.parse((await stands()).text).published_at, soon);
  assert.equal((await stop()).code, 0);
  await until(() => (Date.now() > Date.parse(later) ? true : null));
  const again = await serveHere(t, folder, { PORT: port });
  const aired = JSON.parse((await send(again.url, { path: `${API}/stories/later` })).text);
  assert.equal(aired.published_at, later);
  assert.equal((await send(again.url, { path: `/${PAPER}/stories/later/` })).status, 200);
});

test('a key that is revoked while its body comes writes nothing', async () => {
  const { ask, url } = desk();
  const { id, key } = JSON.parse((await ask('POST', '/keys', { level: 'admin', name: 'Soon gone' })).text);
  const body = JSON.stringify(storyBody('too-late'));
  const { write, closed } = await dial(url);
  write(
    [
      `POST ${API}/stories HTTP/1.1`,
      `Host: ${new URL(url).host}`,
      `X-NRF-Key: ${key}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      'Connection: close',
      '',
      body.slice(0, body.length / 2),
    ].join('\r\n'),
  );
  // The server has read the head, and with it the key, when it answers what was sent after it.
  assert.equal((await ask('GET', '/config', undefined, { 'x-nrf-key': key })).status, 200);
  assert.equal((await ask('DELETE', `/keys/${id}`)).status, 200);
  write(body.slice(body.length / 2));
  const answer = await closed;
  assert.match(answer, /^HTTP\/1\.1 401 [\s\S]*WWW-Authenticate: Bearer[\s\S]*key_invalid/i);
  assert.equal((await ask('GET', '/stories/too-late')).status, 404);
  assert.equal((await ask('POST', '/stories', storyBody('too-late'))).status, 201, 'the slug is free');
});

test('an agent bound to a persona cannot sign as another', async () => {
  const { ask } = desk();
  const made = await ask('POST', '/keys', { level: 'agent', name: 'The hand of Ibo', persona: 'ibo-sand' });
  const agent = { 'x-nrf-key': JSON.parse(made.text).key };
  const { version } = JSON.parse((await ask('GET', '/agent/terms')).text);
  assert.equal((await ask('POST', '/agent/terms/accept', { version, signed_by: 'Mara Vell' })).status, 200);
  const refused = await ask('POST', '/stories', storyBody('by-another'), agent);
  assert.equal(refused.status, 422);
  assert.equal(JSON.parse(refused.text).problems[0].rule, 'persona_of_key');
  const own = { ...storyBody('by-itself'), byline: 'ibo-sand' };
  assert.equal((await ask('POST', '/stories', own, agent)).status, 201);
  const turned = await ask('PUT', '/stories/by-itself', { ...storyBody('by-itself'), revision: 1 }, agent);
  assert.equal(turned.status, 422, 'nor hands a piece to somebody else');
  const check = JSON.parse((await ask('GET', '/agent', undefined, agent)).text);
  assert.equal(check.key.kind, 'agent');
});

test('keys: shown once, stored as hashes, uses recorded in the background', async (t) => {
  const { ask, folder, stop } = await openDesk(t);
  const made = await ask('POST', '/keys', { level: 'read', name: 'Once', seat: 'mara@example.org' });
  const { id, key } = JSON.parse(made.text);
  assert.match(key, /^nrf_[0-9A-Za-z]{43}$/);
  assert.ok(!(await ask('GET', '/keys')).text.includes(key));
  const unused = JSON.parse((await ask('POST', '/keys', { level: 'read', name: 'Never' })).text);
  const before = Date.now();
  assert.equal((await ask('GET', '/drafts', undefined, { 'x-nrf-key': key })).status, 200);
  const rows = async () =>
    (JSON.parse((await ask('GET', '/keys')).text).keys as { id: string; used_at: string | null }[]).find(
      (row) => row.id === id,
    );
  const first = await rows();
  assert.equal((await stop()).code, 0);
  // What the database holds is the hash and not the key.
  const files = ['broadsheet.db', 'broadsheet.db-wal'].map((name) => join(folder, 'var', name));
  const bytes = files.map((file) => read(file)).join('');
  assert.ok(!bytes.includes(key) && !bytes.includes(key.slice(4)));
  assert.ok(bytes.includes(createHash('sha256').update(key).digest('hex')));
  // A read costs no write: its use stood down only when the server stopped.
  assert.equal(first?.used_at, null);
  const { store } = appContextIn(t, folder, { now: Date.now() });
  const kept = store.desk.keys.list(PAPER);
  assert.ok((kept.find((row) => row.id === id)?.used_at ?? 0) >= before);
  assert.equal(kept.find((row) => row.id === unused.id)?.used_at, null);
});

function read(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

/** The audit finds no fault, and the tree is that of a full press. */
async function assertWhole(t: TestContext, folder: string, url: string): Promise<void> {
  const audit = await run(t, folder, ['audit'], { ORIGIN: url });
  assert.equal(audit.code, 0, audit.stdout);
  const before = treeOf(join(folder, 'papers', PAPER));
  assert.equal((await run(t, folder, ['press', '--full'], { ORIGIN: url })).code, 0);
  const after = treeOf(join(folder, 'papers', PAPER));
  // The news sitemap alone ages.
  for (const tree of [before, after]) tree.delete('sitemap-news.xml');
  assertSameTree(before, after);
}
