import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type AppContext, openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { envIn, tempFolder } from '../support/app-context.ts';
import { type Seat, seatAt } from '../support/console-seat.ts';
import { deskRoutes } from '../support/desk-routes.ts';
import { serveHere } from '../support/serve-here.ts';
import { enterPapers, type Keys, storyBody } from '../support/small-papers.ts';

const PAPER = 'tide-table';
/** What no page may show as markup. */
const HOSTILE = `<script>alert(1)</script>"'& and <img src=x onerror=alert(1)>`;

const folder = tempFolder({ after });
const ending: (() => void | Promise<void>)[] = [];
after(async () => {
  for (const end of ending) await end();
});
let url = '';
let keys: Keys;
let admin: Seat;
let reader: Seat;

// biome-ignore lint/suspicious/noExplicitAny: members of many schemas
type Body = any;

async function api(
  method: string,
  path: string,
  body?: unknown,
  key = keys.admin,
): Promise<{ status: number; body: Body }> {
  const response = await fetch(`${url}/${PAPER}/api/v1/${path}`, {
    method,
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

const storyOf = async (id: string) => (await api('GET', `stories/${id}`)).body;

async function draft(slug: string, more: object = {}): Promise<string> {
  const { status, body } = await api('POST', 'stories', { ...storyBody(slug), slug, air: false, ...more });
  assert.equal(status, 201, JSON.stringify(body));
  return body.story.id;
}

before(async () => {
  keys = (await enterPapers(folder, [{ slug: PAPER }])).get(PAPER) ?? assert.fail();
  ({ url } = await serveHere({ after: (end) => void ending.push(end) }, folder, { CARDS: 'off' }));
  admin = seatAt(url, folder, PAPER, 'admin');
  reader = seatAt(url, folder, PAPER, 'read');
});

test('a piece is scheduled in a zone, put on air, placed, withdrawn and put on air again', async () => {
  const id = await draft('neap-tide');
  const at = `pieces/${id}`;
  const scheduled = await admin.done(`${at}/air`, { when: 'later', at: '2099-07-01T08:00', zone: 'Europe/Berlin' });
  assert.match(scheduled, /Scheduled for 2099-07-01T06:00:00\.000Z \(UTC\)/);
  assert.equal((await storyOf(id)).state, 'scheduled');
  assert.match((await admin.get('')).html, new RegExp(`pieces/${id}`), 'today lists what is scheduled');

  assert.match(await admin.done(`${at}/withdraw`, { reason: 'Not yet' }), /Off the schedule; it is a draft again/);
  assert.match(await admin.done(`${at}/air`, { when: 'now' }), /On air, and every page/);
  assert.match(await admin.done(`${at}/place`, { where: '2' }), /placed on the front/);
  const { body: front } = await api('PUT', 'front', {});
  assert.deepEqual(
    front.placement.pins.map(({ pin, id: piece }: { pin: number; id: string }) => [pin, piece]),
    [[2, id]],
  );

  const withdrawn = await admin.done(`${at}/withdraw`, { reason: 'The gauge was broken' });
  assert.match(withdrawn, /its page is a notice with the reason/);
  assert.match(withdrawn, /Put it on air again/);
  assert.equal((await storyOf(id)).state ?? 'withdrawn', 'withdrawn');
  assert.match(await admin.done(`${at}/air`, {}), /On air/);
  const { html } = await admin.get(at);
  for (const line of ['The gauge was broken', 'Put on air', 'Filed', 'Scheduled for 2099-07-01T06:00:00.000Z'])
    assert.ok(html.includes(line), line);
});

test('the same form sent twice does its work once', async () => {
  const id = await draft('spring-tide');
  const once = 'a-value-of-one-page';
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => admin.post(`pieces/${id}/air`, { when: 'now', once })),
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    [303, 303, 303, 303, 303],
  );
  const { body } = await api('GET', `activity?subject=${id}&action=piece.aired`);
  assert.equal(body.activity.length, 1);
  assert.equal(body.activity[0].from.way, 'console');
});

test('what the API refuses comes back under its status, with what was typed', async () => {
  const id = await draft('ebb', { cited_facts: [], prose: 'It rests on nothing.' });
  const refused = await admin.post(`pieces/${id}/air`, { when: 'now' });
  assert.equal(refused.status, 422);
  assert.match(refused.html, /role="alert"/);
  assert.match(refused.html, /distinct publisher/);
  const gap = await admin.post(`pieces/${id}/air`, { when: 'later', at: '2027-03-28T02:30', zone: 'Europe/Berlin' });
  assert.equal(gap.status, 400);
  assert.match(gap.html, /does not exist in Europe\/Berlin/);
  assert.match(gap.html, /value="2027-03-28T02:30"/, 'the form keeps what was typed');
  assert.match((await admin.get(`pieces/${id}`)).html, /What keeps it off the air/);
  assert.equal((await admin.get('pieces/none')).status, 404);
});

test('many pieces are withdrawn with one reason, and each that is refused is named', async () => {
  const ids = [
    await draft('flood-one', { air: true }),
    await draft('flood-two', { air: true }),
    await draft('flood-three'),
  ];
  const form = new URLSearchParams({ what: 'withdraw', reason: 'All from one bad feed', back: 'pieces?state=on_air' });
  for (const id of ids) form.append('piece', id);
  const { status, location } = await admin.post('pieces/all', form);
  assert.equal(status, 303);
  assert.match(location ?? '', /\/console\/pieces\?state=on_air&said=/);
  for (const id of ids.slice(0, 2))
    assert.equal((await admin.get(`pieces/${id}`)).html.includes('All from one bad feed'), true);
  const none = await admin.post('pieces/all', { what: 'air', back: 'pieces' });
  assert.equal(none.status, 400);
});

test('lists filter by state, section, persona, key and words, and go on', async () => {
  const { body } = await api('POST', 'stories', { ...storyBody('brackish-water'), air: false }, keys.agent).catch(
    () => ({ body: null }),
  );
  assert.equal(body?.error, 'terms_unsigned');
  await admin.done('agents/terms', { version: (await api('GET', 'agent/terms')).body.version, signed_by: 'Vera Holm' });
  const { body: filed } = await api('POST', 'stories', { ...storyBody('brackish-water'), air: false }, keys.agent);
  const agent = (await api('GET', 'keys')).body.keys.find(({ level }: { level: string }) => level === 'agent');
  const shown = async (query: string) => (await admin.get(`pieces?${query}`)).html.includes(filed.story.id);
  assert.equal(await shown('state=draft'), true);
  assert.equal(await shown('state=on_air'), false);
  assert.equal(await shown(`by=${agent.id}`), true);
  assert.equal(await shown('persona=nobody'), false);
  assert.equal(await shown('q=brackish-water'), true);
  assert.equal(await shown('q=brackish-water&state=on_air'), false);
  assert.equal(await shown('language=de'), false);
  assert.match((await admin.get('pieces?q=low+water')).html, /Low/i);
});

test('two revisions are compared member by member', async () => {
  const id = await draft('slack', { dek: 'Before the turn.' });
  await api('PUT', `stories/${id}`, {
    ...storyBody('slack'),
    slug: 'slack',
    dek: 'After the turn.',
    revision: 1,
    correction: 'It was after.',
  });
  const { html } = await admin.get(`pieces/${id}/changes`);
  assert.match(html, /<del[^>]*>Before<\/del>/);
  assert.match(html, /<ins[^>]*>After<\/ins>/);
  assert.match((await admin.get(`pieces/${id}`)).html, /Corrected \(revision 2\)/);
});

test('names that are markup are shown as text', async () => {
  const id = await draft('hostile', {
    headline: HOSTILE,
    dek: HOSTILE,
    prose: 'Plain "quotes" & more. [^1] Again. [^2]',
  });
  await admin.done('agents/make', { level: 'read', name: HOSTILE });
  for (const page of [
    '',
    'pieces',
    `pieces/${id}`,
    `pieces/${id}/changes`,
    'agents',
    'activity',
    `pieces?q=${encodeURIComponent(HOSTILE)}`,
  ]) {
    const { status, html } = await admin.get(page);
    assert.equal(status, 200, page);
    // Within the quotes of an attribute a bracket is text.
    assert.equal(/<script>alert|<img src=x/.test(html.replaceAll(/="[^"]*"/g, '')), false, page);
  }
  const response = await fetch(`${admin.root}pieces/${id}`, {
    headers: { cookie: `${admin.cookie.name}=${admin.cookie.value}` },
  });
  const csp = response.headers.get('content-security-policy') ?? '';
  assert.equal(/unsafe/.test(csp), false);
  assert.match(csp, /frame-ancestors 'none'/);
  assert.match(response.headers.get('cache-control') ?? '', /no-store/);
});

test('a read seat sees, and does nothing', async () => {
  const id = await draft('reader-sees');
  for (const page of ['', 'pieces', `pieces/${id}`, `pieces/${id}/changes`, 'readers']) {
    const { status, html } = await reader.get(page);
    assert.equal(status, 200, page);
    assert.equal(
      /<form[^>]* method="post"/.test(
        html
          .replace(/<form action="[^"]*\/preview" .*?<\/form>/gs, '')
          .replace(/<form action="[^"]*pieces\/all".*?<\/form>/gs, ''),
      ),
      false,
      page,
    );
  }
  for (const page of ['agents', 'webhooks', 'activity', 'readers/export.csv'])
    assert.equal((await reader.get(page)).status, 403, page);
  // What a read seat may do: look at drafts by a link, manage its own sessions, and allow a program to read.
  const OWN = /^(?:pieces\/:id\/preview|sessions|passkeys|passkey|sign-|first|enter|link|key|authorize)/;
  const app = openAppContext(readSettings(envIn(folder)));
  const before = await stateOf(app);
  try {
    const posts = (await deskRoutes(app)).filter(
      ({ method, path }) => method === 'POST' && path.startsWith('/:paper/console/'),
    );
    const paths = posts.map(({ path }) => path.slice('/:paper/console/'.length)).filter((path) => !OWN.test(path));
    assert.ok(paths.length > 20, String(paths));
    const fields = {
      when: 'now',
      what: 'air',
      piece: id,
      where: 'lead',
      reason: 'x',
      name: 'x',
      level: 'admin',
      do: 'file',
      decision: 'approve',
    };
    for (const path of new Set(paths)) {
      const at = path.replace(':id', id).replace(/:\w+/g, 'x');
      const { status } = await reader.post(at, fields);
      assert.equal(status, 403, path);
    }
    assert.deepEqual(await stateOf(app), before, 'nothing is changed');
  } finally {
    app.close();
  }
  assert.equal((await storyOf(id)).state, 'draft');
});

/** What a refused action must leave as it is. */
async function stateOf({ store }: AppContext) {
  const { desk } = store;
  const archive = desk.archive(PAPER);
  return [
    desk.pieces.stateCounts(PAPER),
    archive.placement(),
    archive.paper(),
    desk.keys.list(PAPER).length,
    desk.webhooks.list(PAPER).length,
  ];
}

test('a form from elsewhere, of another session or without its token does nothing', async () => {
  const id = await draft('from-elsewhere');
  const path = `pieces/${id}/air`;
  assert.equal((await admin.post(path, { when: 'now' }, { Origin: 'https://elsewhere.example' })).status, 403);
  assert.equal((await admin.post(path, { when: 'now', form: 'x' })).status, 403);
  const { status } = await fetch(`${admin.root}${path}`, {
    method: 'POST',
    headers: { Origin: url },
    body: new URLSearchParams(),
  });
  assert.equal(status, 401, 'and nobody acts who is signed out');
  assert.equal((await storyOf(id)).state, 'draft');
});
