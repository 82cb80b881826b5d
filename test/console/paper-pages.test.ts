import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { PaperBody } from '../../src/desk/papers/paper.ts';
import { tempFolder } from '../support/app-context.ts';
import { type Seat, seatAt } from '../support/console-seat.ts';
import { serveHere } from '../support/serve-here.ts';
import { enterPapers, storyBody } from '../support/small-papers.ts';
import { mp3 } from '../support/sounds.ts';

/** What no page may show as it is. */
const HOSTILE = `<script>"'&`;
const PAPER = 'tide-table';

const folder = tempFolder({ after });
const ending: (() => void | Promise<void>)[] = [];
after(async () => {
  for (const end of ending) await end();
});
let url = '';
let key = '';
let admin: Seat;
let reader: Seat;

// biome-ignore lint/suspicious/noExplicitAny: members of many schemas
type Body = any;

/** A request to the API, with the admin's key. */
async function api(method: string, path: string, body?: unknown) {
  const response = await fetch(`${url}/${PAPER}/api/v1/${path}`, {
    method,
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Body };
}

const idOf = async (slug: string): Promise<string> => (await api('GET', `stories/${slug}`)).body.id ?? '';

/** The value of a hidden field. */
function fieldOf(html: string, name: string): string {
  const found = new RegExp(`name="${name}" value(?:="([^"]*)")?`).exec(html) ?? assert.fail(`no field ${name}`);
  return unescaped(found[1] ?? '');
}

/** The form that undoes what a notice says, as it would be sent. */
function undoIn(html: string): [path: string, fields: Record<string, string>] {
  const [, path = '', inputs = ''] =
    /<div class="notice done".*?<form action="[^"]*\/console\/([^"]*)"[^>]*>(.*?)<\/form>/su.exec(html) ?? [];
  const fields = [...inputs.matchAll(/name="([^"]*)" value(?:="([^"]*)")?/g)].map(([, name, value = '']) => [
    name,
    unescaped(value),
  ]);
  const { form: _form, once: _once, ...rest } = Object.fromEntries(fields);
  return [path, rest];
}

const unescaped = (text: string): string =>
  text
    .replaceAll('&quot;', '"')
    .replaceAll('&#34;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');

function assertEscaped(html: string): void {
  assert(!html.includes('<script>"'), 'a name is shown as markup');
}

before(async () => {
  const keys = await enterPapers(folder, [{ slug: PAPER }]);
  key = keys.get(PAPER)?.admin ?? '';
  ({ url } = await serveHere({ after: (end) => void ending.push(end) }, folder, { CARDS: 'off' }));
  admin = seatAt(url, folder, PAPER, 'admin');
  reader = seatAt(url, folder, PAPER, 'read');
  const filed = await api('POST', 'stories', { ...storyBody('hostile'), headline: HOSTILE, air: true });
  assert.equal(filed.status, 201, JSON.stringify(filed.body));
});

test('the front is shown before it is placed, and placed as it was again', async () => {
  const [lead, beside] = [await idOf('low-water'), await idOf('hostile')];
  const plain = await admin.get('front');
  assert.equal(plain.status, 200);
  assertEscaped(plain.html);
  assert(!plain.html.includes('This is not done yet'));

  const shown = await admin.get(`front?put=${lead}@0`);
  assert.match(shown.html, /This is not done yet/);
  assert.equal((await api('PUT', 'front', {})).body.placement.revision, 0, 'to show a front changes nothing');
  const both = await admin.get(`front?place0=${lead}&put=${beside}@2`);
  assert.equal(fieldOf(both.html, 'place0'), lead);
  assert.equal(fieldOf(both.html, 'place2'), beside);
  const frame = await admin.get(`see/?place0=${lead}&place2=${beside}`);
  assert.match(frame.html, /class="[^"]*\blead\b[^"]*"[\s\S]*What low water means/);
  assertEscaped(frame.html);

  const fields = { place0: lead, place2: beside, revision: fieldOf(both.html, 'revision') };
  const placed = await admin.done('front/place', fields);
  assert.match(placed, /Placed, and the front is written/);
  const { placement } = (await api('PUT', 'front', {})).body;
  assert.equal(placement.lead.id, lead);
  assert.deepEqual(
    placement.pins.map(({ id, pin }: Body) => [id, pin]),
    [[beside, 2]],
  );

  const undone = await admin.done(...undoIn(placed));
  assert.match(undone, /Placed/);
  assert.deepEqual((await api('PUT', 'front', {})).body.placement, { lead: null, pins: [], revision: 2 });
});

test('moving a piece of the front changes places with the one that is there', async () => {
  const [one, two] = [await idOf('low-water'), await idOf('high-water')];
  const { html } = await admin.get(`front?place0=${one}&place1=${two}&until1=2031-01-01T06:00&put=${two}@0`);
  assert.deepEqual(
    [0, 1].map((place) => fieldOf(html, `place${place}`)),
    [two, one],
  );
  assert.equal(fieldOf(html, 'until0'), '2031-01-01T06:00', 'the end of a place moves with its piece');
  const freed = await admin.get(`front?place0=${one}&put=@0`);
  assert.equal(fieldOf(freed.html, 'place0'), '');
});

test('a front that another changed meanwhile is refused, and both are shown', async () => {
  const [mine, theirs] = [await idOf('low-water'), await idOf('high-water')];
  const { html } = await admin.get(`front?put=${mine}@0`);
  await api('PUT', 'front', { lead: theirs });
  const fields = { place0: mine, revision: fieldOf(html, 'revision') };
  const refused = await admin.post('front/place', fields);
  assert.equal(refused.status, 409);
  assert.match(refused.html, /This placement was made from revision \d+, but the newest is \d+/);
  const [, now = '', after = ''] = /<h3>Now<\/h3>(.*?)<h3>After<\/h3>(.*?)<\/section>/su.exec(refused.html) ?? [];
  assert.match(now, /What high water means/);
  assert.match(after, /What low water means/);
  const again = { place0: mine, revision: fieldOf(refused.html, 'revision') };
  assert.match(await admin.done('front/place', again), /Placed/);
  await api('PUT', 'front', { lead: null });
});

test('what cannot be placed is refused at its place, with what was typed', async () => {
  const [draft, piece] = [await idOf('slack-water'), await idOf('low-water')];
  const refused = await admin.post('front/place', { place1: draft, place2: piece, until2: '2001-01-01T00:00' });
  assert.equal(refused.status, 422);
  assert.match(refused.html, /is a draft; put it on air/);
  assert.match(refused.html, /id="problem2">2001-01-01T00:00:00.000Z has passed/);
  assert.match(refused.html, /name="until2" value="2001-01-01T00:00" aria-invalid="true"/);
});

test('rails and blocks are shown in their order before it is set', async () => {
  const { html } = await admin.get(
    'front?section=Tides&section=Lights&rail=Lights@0&block=cast&block=sections&shown=cast&shown=sections',
  );
  assert.match(html, /This is not done yet/);
  assert.equal(fieldOf(html, 'sections'), 'Lights\nTides');
  const set = await admin.done('front/arrange', { sections: 'Lights\nTides', blocks: 'cast\nsections' });
  assert.match(set, /stand in their new order/);
  const { body } = await api('GET', 'config');
  assert.deepEqual([body.sections, body.front], [['Lights', 'Tides'], { blocks: ['cast', 'sections'] }]);
  await admin.done(...undoIn(set));
  const { body: undone } = await api('GET', 'config');
  assert.deepEqual([undone.sections, undone.front], [['Tides', 'Lights'], undefined]);
});

test('settings are shown before they are saved, saved by the members that changed, and set back', async () => {
  const { html } = await admin.get('settings');
  for (const name of Object.keys(PaperBody.shape)) {
    if (!['sections', 'front'].includes(name)) assert.match(html, new RegExp(`name="${name}(?:\\.[a-z_]+)?"`), name);
  }
  const shown = await admin.post('settings/show', {
    motto: HOSTILE,
    'hue.exact': '33',
    'logo.light': 'media/none.svg',
  });
  assert.equal(shown.status, 200);
  assert.match(shown.html, /Nothing is saved yet/);
  assertEscaped(shown.html);
  assert.match(shown.html, /<dt>Colour<\/dt><dd><del>210<\/del> <ins>33<\/ins>/);
  assert.equal((await api('GET', 'config')).body.hue, 210);

  const saved = await admin.done('settings/save', {
    motto: HOSTILE,
    'hue.exact': '33',
    paper_public: 'true',
    'alerts.hour': '6',
  });
  assertEscaped(saved);
  assert.match(saved, /<dt>Motto<\/dt><dd><del>Twice a day<\/del>/);
  assert(!saved.includes('<dt>Public</dt>'), 'only what changed is shown');
  const { body } = await api('GET', 'config');
  assert.deepEqual([body.motto, body.hue, body.alerts], [HOSTILE, 33, { hour: 6, time_zone: 'UTC' }]);
  const back = await admin.done(...undoIn(saved));
  assert.match(back, /Set back/);
  const { body: undone } = await api('GET', 'config');
  assert.deepEqual([undone.motto, undone.hue, undone.alerts], ['Twice a day', 210, undefined]);
});

test('a refused setting keeps what was typed, with the problem at its field', async () => {
  const refused = await admin.post('settings/save', {
    nameplate: '',
    hue: '400',
    'alerts.time_zone': '"Mars&',
    motto: HOSTILE,
  });
  assert.equal(refused.status, 400);
  assertEscaped(refused.html);
  for (const name of ['nameplate', 'hue', 'alerts-time_zone'])
    assert.match(refused.html, new RegExp(`id="field-${name}-problem">`), name);
  assert.match(
    refused.html,
    /name="alerts.time_zone"[^>]* value="&#34;Mars&#38;"|name="alerts.time_zone"[^>]* value="&quot;Mars&amp;"/,
  );
  const long = await admin.post('settings/save', { standards: 'é'.repeat(20_001) });
  assert.match(long.html, /id="field-standards-problem">/);
  assert.equal((await admin.post('settings/save', { standards: 'x'.repeat(1024 * 1024) })).status, 413);
});

test('a record that is a file of the folder says so', async () => {
  assert.match((await admin.get('settings')).html, /This is also the file <code>paper.yaml<\/code>/);
});

test('a persona is added, changed, retired and brought back', async () => {
  const fields = { slug: 'noor-lind', name: HOSTILE, title: HOSTILE, beat: HOSTILE, bio: HOSTILE, avatar: '' };
  const added = await admin.done('masthead/add', fields);
  assertEscaped(added);
  assert.match(added, /is on the masthead/);
  assertEscaped((await admin.get('masthead')).html);
  const retired = await admin.done(...undoIn(added));
  assert.match(retired, /is retired/);
  assert.match((await admin.get('masthead')).html, /class="state retired"/);
  await admin.done(...undoIn(retired));
  const saved = await admin.done('masthead/noor-lind/save', {
    name: 'Noor Lind',
    title: HOSTILE,
    avatar: 'media/art/buoys.svg',
  });
  assert.match(saved, /<dt>Name<\/dt>/);
  assert(!saved.includes('<dt>Title</dt>'), 'only what changed is shown');
  const row = async () => (await api('GET', 'masthead')).body.masthead.find(({ slug }: Body) => slug === 'noor-lind');
  assert.deepEqual([(await row()).name, (await row()).avatar.split('/').at(-1)], ['Noor Lind', 'buoys.svg']);
  await admin.done(...undoIn(saved));
  assert.equal((await row()).name, HOSTILE);
  const refused = await admin.post('masthead/noor-lind/save', { name: '', avatar: HOSTILE });
  assert.equal(refused.status, 400);
  assert.match(refused.html, /id="field-name-problem">/);
  assertEscaped(refused.html);
  const bad = await admin.post('masthead/add', { ...fields, slug: 'No Slug' });
  assert.equal(bad.status, 400);
  assert.match(bad.html, /id="slug-problem">/);
  assert.equal((await admin.get('masthead/nobody')).status, 404);
});

test('sections say what a new name does before it is saved', async () => {
  const rows = (...names: string[]) =>
    Object.fromEntries(
      names.flatMap((name, index) => [
        [`was.${index}`, ['Tides', 'Lights'][index] ?? ''],
        [`name.${index}`, name],
      ]),
    );
  const shown = await admin.post('sections/show', rows('Seas', 'Lights', HOSTILE));
  assert.equal(shown.status, 200);
  assertEscaped(shown.html);
  assert.match(shown.html, /Refused while pieces are in it \(3 on air, 1 waiting\)/);
  assert.match(shown.html, /name="name.0"[^>]* value="Seas"/);
  const refused = await admin.post('sections/save', rows('Seas', 'Lights'));
  assert.equal(refused.status, 422);
  assert.match(refused.html, /id="sections-problem"[\s\S]*still has pieces on air/);
  const saved = await admin.done('sections/save', {
    ...rows('Tides', 'Lights', HOSTILE),
    'position.2': '1',
    'position.0': '2',
    'position.1': '3',
  });
  assertEscaped(saved);
  assert.deepEqual((await api('GET', 'config')).body.sections, [HOSTILE, 'Tides', 'Lights']);
  for (const path of ['front', 'sections', 'pieces']) assertEscaped((await admin.get(path)).html);
  await admin.done(...undoIn(saved));
  assert.deepEqual((await api('GET', 'config')).body.sections, ['Tides', 'Lights']);
});

/** A form with a file, in the order of the page's own: its fields come before the file. */
function fileForm(name: string, bytes: Uint8Array, type: string, fields: Record<string, string> = {}): FormData {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.set(field, value);
  form.set('file', new Blob([bytes as Uint8Array<ArrayBuffer>], { type }), name);
  return form;
}

test('a file is uploaded, shown with what uses it, and removed once nothing does', async () => {
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M0 0h8v8z"/></svg>');
  const uploaded = await admin.done(
    'media/upload',
    fileForm('quay.svg', svg, 'image/svg+xml', { path: 'media/quay.svg', alt: HOSTILE }),
  );
  assertEscaped(uploaded);
  assert.match(uploaded, /media\/quay.svg is uploaded/);
  assert.match(uploaded, /Nothing uses it/);
  const thumbnail = await fetch(`${admin.root}see/media/quay.svg`, {
    headers: { Cookie: `${admin.cookie.name}=${admin.cookie.value}` },
  });
  assert.deepEqual([thumbnail.status, await thumbnail.text()], [200, svg.toString()]);
  assert.match(thumbnail.headers.get('content-security-policy') ?? '', /sandbox/);

  const { html } = await admin.get('media?q=buoys');
  assert.match(html, /Used by .*pieces\/[^"]+">high-water \(on air\)/);
  const used = await admin.post('media/remove', { path: 'media/art/buoys.svg' });
  assert.equal(used.status, 409);
  assert.match(used.html, /is used by/);
  assert.match(await admin.done('media/remove', { path: 'media/quay.svg' }), /media\/quay.svg is removed/);
  assert.equal((await admin.get('media?q=quay')).html.includes('media/quay.svg</a>'), false);
});

test('a refused upload keeps what was typed and stores nothing', async () => {
  const refused = await admin.post(
    'media/upload',
    fileForm('a.svg', Buffer.from('<svg/>'), 'image/svg+xml', { path: `../${HOSTILE}`, alt: HOSTILE }),
  );
  assert.equal(refused.status, 400);
  assertEscaped(refused.html);
  assert.match(refused.html, /id="path-problem">/);
  assert.match(refused.html, /name="alt"[^>]* value="<script>/);
  const script = await admin.post(
    'media/upload',
    fileForm('a.svg', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>'), 'image/svg+xml', {
      path: 'media/a.svg',
    }),
  );
  assert(script.status >= 400, `${script.status}`);
  const forged = await admin.post(
    'media/upload',
    fileForm('b.svg', Buffer.from('<svg/>'), 'image/svg+xml', { form: 'x', path: 'media/b.svg' }),
  );
  assert.equal(forged.status, 403);
  const none = new FormData();
  assert.equal((await admin.post('media/upload', none)).status, 400);
  assert.equal((await admin.get('media?q=media/a.svg')).html.includes('media/a.svg</a>'), false);
});

test('an edition takes an uploaded file, is published, changed and set back', async () => {
  const day = '2026-11-20';
  const video = readFileSync(new URL('../../content/the-leading-light/media/cast/2026-11-16.mp4', import.meta.url));
  const uploaded = await admin.done(
    `cast/${day}/upload`,
    fileForm('day.mp4', video, 'video/mp4', { path: 'media/cast/day.mp4' }),
  );
  assert.match(uploaded, /name="video"[^>]* value="media\/cast\/day.mp4"/);
  const poster = 'media/cast/2026-11-16.jpg';
  const refused = await admin.post(`cast/${day}/save`, { title: HOSTILE, video: 'media/cast/day.mp4' });
  assert.equal(refused.status, 400);
  assertEscaped(refused.html);
  assert.match(refused.html, /id="field-poster-problem">/);
  const published = await admin.done(`cast/${day}/save`, {
    title: HOSTILE,
    description: HOSTILE,
    video: 'media/cast/day.mp4',
    poster,
  });
  assertEscaped(published);
  assert.match(published, /The edition of 2026-11-20 is published/);
  assertEscaped((await admin.get('cast')).html);
  assertEscaped((await admin.get('media?q=day.mp4')).html);
  const saved = await admin.done(`cast/${day}/save`, { title: 'The day' });
  assert.match(saved, /<dt>Title<\/dt>/);
  await admin.done(...undoIn(saved));
  assert.equal((await api('GET', 'cast')).body.cast[0].title, HOSTILE);
  assert.match((await admin.get(`cast?day=2026-11-21`)).html, /A new edition: 2026-11-21/);
  assert.equal((await admin.get('cast/never')).status, 404);
});

test('the chapters of an audio edition are lines of a time and a title', async () => {
  const sound = mp3(40);
  await admin.done('media/upload', fileForm('day.mp3', sound, 'audio/mpeg', { path: 'media/cast/day.mp3' }));
  const fields = { title: 'Heard', audio: 'media/cast/day.mp3', chapters: '0:00 Start\n0:05.5 The tide turns' };
  const published = await admin.done('cast/2026-11-22/save', fields);
  assert.match(published, />\n?0:00 Start\n0:05.5 The tide turns<\/textarea>/);
  const [edition] = (await api('GET', 'cast')).body.cast;
  assert.deepEqual(edition.chapters, [
    { time: 0, title: 'Start' },
    { time: 5.5, title: 'The tide turns' },
  ]);
  const refused = await admin.post('cast/2026-11-22/save', { ...fields, chapters: 'never' });
  assert.match(refused.html, /id="field-chapters-problem">/);
});

test('a page is shown as it was typed, added, changed, removed and put back', async () => {
  const fields = {
    slug: 'about',
    title: HOSTILE,
    description: HOSTILE,
    nav: 'footer',
    order: '2',
    prose: `We watch **tides**. ${'あ'.repeat(12_000)}`,
  };
  const shown = await admin.post('pages/show', fields);
  assert.equal(shown.status, 200);
  assertEscaped(shown.html);
  const [, src = ''] = /<iframe class="page" src="[^"]*\/console\/([^"]*)"/.exec(shown.html) ?? assert.fail('no frame');
  const frame = await admin.get(unescaped(src));
  assert.match(frame.html, /<strong>tides<\/strong>/);
  assertEscaped(frame.html);
  assert.equal((await api('GET', 'pages/about')).status, 404, 'to show a page saves nothing');
  const added = await admin.done('pages/add', fields);
  assertEscaped(added);
  assertEscaped((await admin.get('pages')).html);
  const saved = await admin.done('pages/about/save', { title: 'About', order: '3' });
  assert.deepEqual(
    [(await api('GET', 'pages/about')).body.title, (await api('GET', 'pages/about')).body.order],
    ['About', 3],
  );
  await admin.done(...undoIn(saved));
  assert.equal((await api('GET', 'pages/about')).body.title, HOSTILE);
  const refused = await admin.post('pages/about/save', { title: '', prose: 'A note.[^1]' });
  assert.equal(refused.status, 400);
  assert.match(refused.html, /id="field-title-problem">/);
  assert.match(refused.html, />\n?A note\.\[\^1\]<\/textarea>/);
  const taken = await admin.post('pages/add', { ...fields, slug: 'stories' });
  assert.match(taken.html, /id="slug-problem">/);
  const removed = await admin.done('pages/about/remove', {});
  assert.match(removed, /is removed/);
  await admin.done(...undoIn(removed));
  assert.equal((await api('GET', 'pages/about')).body.title, HOSTILE);
  for (const path of ['pages', 'pages/about']) assert.equal((await reader.get(path)).status, 403, path);
});

/** Every action of these pages, with fields that it would take. */
const ACTIONS: [path: string, fields: Record<string, string>][] = [
  ['front/place', {}],
  ['front/arrange', { sections: 'Lights', blocks: 'cast' }],
  ['settings/show', { motto: 'x' }],
  ['masthead/add', { slug: 'x', name: 'x', title: 'x' }],
  ...['save', 'restore', 'retire', 'return'].map((name): [string, Record<string, string>] => [
    `masthead/vera-holm/${name}`,
    { name: 'x', members: '{"name":"x"}' },
  ]),
  ['sections/show', { 'name.0': 'x' }],
  ['pages/add', { slug: 'x', title: 'x', prose: 'x' }],
  ['pages/show', { slug: 'x', title: 'x', prose: 'x' }],
  ...['show', 'save', 'restore', 'remove'].map((name): [string, Record<string, string>] => [
    `pages/about/${name}`,
    { title: 'x', members: '{"title":"x"}' },
  ]),
  ['sections/save', { 'name.0': 'x' }],
  ['media/remove', { path: 'media/art/buoys.svg' }],
  ['cast/2026-11-19/save', { title: 'x' }],
  ['cast/2026-11-19/restore', { members: '{"title":"x"}' }],
  ['settings/save', { motto: 'x' }],
  ['settings/restore', { members: '{"motto":"x"}' }],
];

/** The pages that a read seat sees. */
const PAGES = [
  ...['front', 'see/', 'settings', 'masthead', 'masthead/vera-holm', 'sections', 'media', 'cast'],
  'cast/2026-11-19',
];

test('a read seat sees the pages and may do nothing', async () => {
  for (const path of PAGES) {
    const { status, html } = await reader.get(path);
    assert.equal(status, 200, path);
    assert(!/<main[\s\S]*method="post"/.test(html), `${path} shows the form of an action`);
  }
  assert(!(await reader.get('settings')).html.includes('desk@example.org'), 'a read key may not read the contact');
  for (const [path, fields] of ACTIONS) {
    const { status, html } = await reader.post(path, fields);
    assert.equal(status, 403, `${path}: ${html}`);
  }
});

test('a form of another origin or session is refused', async () => {
  for (const [path, fields] of ACTIONS) {
    assert.equal((await admin.post(path, fields, { Origin: 'https://evil.example' })).status, 403, path);
    assert.equal((await admin.post(path, { ...fields, form: 'x' })).status, 403, path);
  }
  for (const path of ['media/upload', 'cast/2026-11-19/upload']) {
    const file = () => fileForm('x.svg', Buffer.from('<svg/>'), 'image/svg+xml');
    assert.equal((await admin.post(path, file(), { Origin: 'https://evil.example' })).status, 403, path);
    assert.equal((await reader.post(path, file())).status, 403, path);
  }
});
