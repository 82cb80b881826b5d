import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { newKeyText } from '../../src/shared/access-key.ts';
import { tempFolder } from '../support/app-context.ts';
import { ask } from '../support/http.ts';
import { failuresIn, run, serve, until } from '../support/program.ts';
import { serveHere } from '../support/serve-here.ts';
import { enterPapers, storyBody } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const PAPER = 'the-tide';
const DEMO = fileURLToPath(new URL('../../content/the-plumb-line/media/cast/', import.meta.url));
const SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 9"><path d="M0 0h9"/></svg>';

const png = (color: string, side = 40): Promise<Buffer> =>
  sharp({ create: { width: side, height: side, channels: 3, background: color } })
    .png()
    .toBuffer();

const digestOf = (bytes: Uint8Array | string) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

interface Given {
  bytes: Uint8Array | string;
  path?: string;
  alt?: string;
  name?: string;
  type?: string;
  /** Further headers. */
  more?: Record<string, string>;
}

const openDesk = (t: TestContext, more?: Record<string, string>, folder?: string) =>
  openDeskWith(serveHere, t, more, folder);

async function openDeskWith<Served extends { url: string }>(
  serves: (t: TestContext, folder: string, more: Record<string, string>) => Promise<Served>,
  t: TestContext,
  more: Record<string, string> = {},
  folder = tempFolder(t),
) {
  const keys = (await enterPapers(folder, [{ slug: PAPER }])).get(PAPER);
  assert.ok(keys);
  const serving = await serves(t, folder, more);
  const root = `${serving.url}/${PAPER}`;
  const call = async (method: string, path: string, body?: object, key = keys.admin) => {
    const headers = { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) };
    const answer = await fetch(root + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    return { status: answer.status, body: await answer.json() };
  };
  /** As `curl -F file=@… -F path=… -F alt=…` sends it. */
  const form = async ({ bytes, path, alt, name = 'file', type, more: extra = {} }: Given, key = keys.agent) => {
    const parts = new FormData();
    if (path !== undefined) parts.set('path', path);
    if (alt !== undefined) parts.set('alt', alt);
    parts.set('file', new Blob([bytes as Uint8Array<ArrayBuffer>], type === undefined ? {} : { type }), name);
    const answer = await fetch(`${root}/api/v1/media`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, ...extra },
      body: parts,
    });
    return { status: answer.status, body: await answer.json() };
  };
  /** As `curl --data-binary @…` sends it. */
  const raw = async ({ bytes, path, type = '', alt, more: extra = {} }: Given, key = keys.agent) => {
    const headers: Record<string, string> = { authorization: `Bearer ${key}`, 'content-type': type, ...extra };
    if (path !== undefined) headers['x-media-path'] = path;
    if (alt !== undefined) headers['x-media-alt'] = encodeURIComponent(alt);
    const answer = await fetch(`${root}/api/v1/media`, {
      method: 'POST',
      headers,
      body: bytes as Uint8Array<ArrayBuffer>,
    });
    return { status: answer.status, body: await answer.json() };
  };
  const signTerms = async () => {
    const { body } = await call('GET', '/api/v1/agent/terms');
    const { status } = await call('POST', '/api/v1/agent/terms/accept', {
      version: body.version,
      signed_by: 'Mara Vell',
    });
    assert.equal(status, 200);
  };
  const uploads = () => {
    const at = join(more.DATA_DIR ?? join(folder, 'var'), 'media/.uploads');
    return existsSync(at) ? readdirSync(at) : [];
  };
  return { ...serving, root, folder, keys, call, form, raw, signTerms, uploads };
}

test('an agent without a shell publishes a picture and a video edition', async (t) => {
  const { root, keys, call, form, raw, signTerms, uploads, said, folder, stop } = await openDesk(t);
  const picture = await png('#336699');

  assert.equal((await form({ bytes: picture, path: 'media/quay.png' })).body.error, 'terms_unsigned');
  assert.equal((await form({ bytes: picture, path: 'media/quay.png' }, keys.read)).body.error, 'level_too_low');
  await signTerms();

  const first = await form({ bytes: picture, path: 'media/art/quay.png', alt: 'Two ferries' });
  assert.equal(first.status, 201, JSON.stringify(first.body));
  const { pressed, files: _files, ...row } = first.body;
  assert.equal(pressed, true);
  assert.deepEqual(row, {
    path: 'media/art/quay.png',
    url: `${root}/media/art/quay.png`,
    media_type: 'image/png',
    width: 40,
    height: 40,
    duration_s: null,
    bytes: picture.length,
    sha256: digestOf(picture),
    alt: 'Two ferries',
  });
  assert.deepEqual(new Uint8Array(await (await fetch(row.url)).arrayBuffer()), new Uint8Array(picture));
  const again = await raw({ bytes: picture, path: 'media/art/quay.png', type: 'image/png' });
  assert.equal(again.status, 200);
  assert.equal(again.body.alt, 'Two ferries', 'a description stays that is not sent again');
  assert.equal((await form({ bytes: await png('#000'), path: 'media/art/quay.png' })).body.error, 'conflict');

  // The picture in a piece, with the description that came with it.
  const story = { ...storyBody('by-ferry'), image: 'media/art/quay.png', air: true };
  const filed = await call('POST', '/api/v1/stories', story, keys.agent);
  assert.equal(filed.status, 201, JSON.stringify(filed.body));
  assert.match(await (await fetch(`${root}/stories/by-ferry/`)).text(), /alt="Two ferries"/);

  // A video edition.
  const at = (ending: string) => readFileSync(`${DEMO}2026-11-17.${ending}`);
  const video = await raw({ bytes: at('mp4'), path: 'media/cast/day.mp4', type: 'video/mp4' });
  assert.equal(video.status, 201, JSON.stringify(video.body));
  assert.ok(video.body.duration_s > 0 && video.body.width > 0);
  assert.equal((await form({ bytes: at('jpg'), path: 'media/cast/day.jpg', alt: 'The quay' })).status, 201);
  assert.equal((await form({ bytes: at('vtt'), path: 'media/cast/day.vtt' })).status, 201);
  const cast = {
    title: 'The day',
    video: 'media/cast/day.mp4',
    poster: 'media/cast/day.jpg',
    captions: 'media/cast/day.vtt',
  };
  const edition = await call('PUT', '/api/v1/cast/2026-11-20', cast, keys.agent);
  assert.equal(edition.status, 200, JSON.stringify(edition.body));
  assert.equal((await fetch(`${root}/cast/2026-11-20/`)).status, 200);
  const [listed] = (await call('GET', '/api/v1/cast')).body.cast;
  assert.equal(listed.video_url, video.body.url);
  const range = await fetch(listed.video_url, { headers: { range: 'bytes=0-3' } });
  assert.equal(range.status, 206);

  // What uses them, in pages.
  const unused = await form({ bytes: await png('#fff'), name: 'unused.png' });
  assert.equal(unused.body.path, 'media/unused.png');
  const uses = new Map<string, unknown>();
  let query: string | null = '';
  while (query !== null) {
    const { body } = await call('GET', `/api/v1/media?limit=2${query}`, undefined, keys.read);
    for (const { path, used_by } of body.media) if (/quay|day|unused/.test(path)) uses.set(path, used_by);
    query = body.next_cursor === null ? null : `&cursor=${encodeURIComponent(body.next_cursor)}`;
  }
  const day = [{ kind: 'cast', name: '2026-11-20' }];
  assert.deepEqual(Object.fromEntries(uses), {
    'media/art/quay.png': [{ kind: 'story', name: 'by-ferry', id: filed.body.story.id, state: 'on_air' }],
    'media/cast/day.jpg': day,
    'media/cast/day.mp4': day,
    'media/cast/day.vtt': day,
    'media/unused.png': [],
  });

  // Removing.
  assert.equal(
    (await call('DELETE', '/api/v1/media/media/unused.png', undefined, keys.agent)).body.error,
    'level_too_low',
  );
  for (const path of ['media/art/quay.png', 'media%2Fcast%2Fday.mp4']) {
    const refused = await call('DELETE', `/api/v1/media/${path}`);
    assert.equal(refused.status, 409, path);
    assert.match(refused.body.message, /is used by (?:story by-ferry|cast 2026-11-20)/);
  }
  assert.equal((await call('DELETE', '/api/v1/media/media/none.png')).status, 404);
  assert.equal((await call('DELETE', '/api/v1/media/media/unused.png')).status, 200);
  assert.equal((await fetch(unused.body.url)).status, 404);
  assert.equal((await call('DELETE', '/api/v1/media/media/unused.png')).status, 404);
  assert.equal(
    (await form({ bytes: await png('#f00'), path: 'media/unused.png' })).status,
    201,
    'the path is free again',
  );
  assert.equal((await call('DELETE', '/api/v1/media/unused.png')).status, 200);

  // A repeated write gets the first answer.
  const key = { 'idempotency-key': 'upload-1' };
  const once = await form({ bytes: await png('#0f0'), path: 'media/once.png', more: key });
  assert.equal(once.status, 201);
  const twice = await form({ bytes: await png('#0f0'), path: 'media/once.png', more: key });
  assert.deepEqual(twice, once);
  const other = await form({ bytes: await png('#00f'), path: 'media/two.png', more: key });
  assert.equal(other.body.error, 'idempotency_key_reused');

  assert.deepEqual(uploads(), []);
  assert.deepEqual(failuresIn(said), []);
  await stop();
  const audit = await run(t, folder, ['audit']);
  assert.equal(audit.code, 0, audit.stdout);
  // A ledger with a removed file is exported and imported.
  assert.equal((await run(t, folder, ['ledger', 'export', join(folder, 'all.jsonl')])).code, 0);
  const copy = join(folder, 'copy');
  mkdirSync(copy);
  const imported = await run(t, copy, ['ledger', 'import', join(folder, 'all.jsonl')]);
  assert.equal(imported.code, 0, imported.stderr);
});

test('a file whose content does not match its type is rejected and removed', async (t) => {
  const { root, url, call, form, raw, signTerms, uploads, keys, said } = await openDesk(t);
  await signTerms();
  const good = await png('#123456');
  const svg = (inside: string) => `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">${inside}</svg>`;
  const refused: [what: string, given: Given, status: number, code: string, way?: 'raw'][] = [
    ['a script', { bytes: svg('<script>alert(1)</script>'), path: 'media/a.svg' }, 422, 'refused_by_door'],
    ['a handler', { bytes: svg('<path onload="alert(1)"/>'), path: 'media/a.svg' }, 422, 'refused_by_door'],
    [
      'a link to a script',
      { bytes: svg('<a href="javascript:alert(1)"/>'), path: 'media/a.svg' },
      422,
      'refused_by_door',
    ],
    ['a foreign object', { bytes: svg('<foreignObject/>'), path: 'media/a.svg' }, 422, 'refused_by_door'],
    ['a picture of another type', { bytes: good, path: 'media/a.jpg' }, 422, 'refused_by_door'],
    ['half a picture', { bytes: good.subarray(0, good.length - 20), path: 'media/a.png' }, 422, 'refused_by_door'],
    ['a page', { bytes: '<!doctype html><script>1</script>', path: 'media/a.html' }, 415, 'unsupported_media_type'],
    ['a page as a picture', { bytes: '<!doctype html>', path: 'media/a.png' }, 422, 'refused_by_door'],
    ['nothing', { bytes: '', path: 'media/a.png' }, 422, 'refused_by_door'],
    [
      'a stylesheet from elsewhere',
      { bytes: '@import "https://x.example/a.css";', path: 'media/a.css' },
      422,
      'refused_by_door',
    ],
    ['no video', { bytes: 'ftyp', path: 'media/a.mp4' }, 422, 'refused_by_door'],
    ['another type', { bytes: good, path: 'media/a.png', type: 'text/html' }, 415, 'unsupported_media_type', 'raw'],
    [
      'the type of another',
      { bytes: good, path: 'media/a.png', type: 'image/jpeg' },
      415,
      'unsupported_media_type',
      'raw',
    ],
    ['JSON', { bytes: '{}', type: 'application/json' }, 415, 'unsupported_media_type', 'raw'],
    [
      'compressed',
      { bytes: good, path: 'media/a.png', more: { 'content-encoding': 'gzip' } },
      415,
      'unsupported_media_type',
      'raw',
    ],
    ['too large', { bytes: new Uint8Array(20 * 1024 * 1024 + 1), path: 'media/a.png' }, 413, 'too_large'],
    [
      'too large alone',
      { bytes: new Uint8Array(20 * 1024 * 1024 + 1), path: 'media/a.png', type: 'image/png' },
      413,
      'too_large',
      'raw',
    ],
    ['a large stylesheet', { bytes: new Uint8Array(800_001), path: 'media/a.css' }, 413, 'too_large'],
    ['an invisible alt', { bytes: good, path: 'media/a.png', alt: '\u200b' }, 400, 'invalid_request'],
    ['an alt with U+0000', { bytes: good, path: 'media/a.png', alt: 'a\0b' }, 400, 'invalid_request'],
    [
      'an alt of two lines',
      { bytes: good, path: 'media/a.png', alt: 'a\nb', type: 'image/png' },
      400,
      'invalid_request',
      'raw',
    ],
    [
      'a bad alt',
      { bytes: good, path: 'media/a.png', type: 'image/png', more: { 'x-media-alt': '%ff' } },
      400,
      'invalid_request',
      'raw',
    ],
    ...[
      '../a.png',
      'media/../../a.png',
      'media/..%2fa.png',
      '/etc/a.png',
      'media//a.png',
      'media/.a.png',
      'media/a\\..\\b.png',
      'art/a.png',
      'media/',
      'media/a b.png',
      `media/${'a'.repeat(200)}.png`,
      'stories/a.png',
      'media/\u202ea.png',
    ].map((path): [string, Given, number, string] => [
      `the path ${path}`,
      { bytes: good, path },
      400,
      'invalid_request',
    ]),
    ['a path with U+0000', { bytes: good, path: 'media/a\0.png' }, 400, 'invalid_request'],
    ['a path of no format', { bytes: good, path: 'media/a' }, 415, 'unsupported_media_type'],
  ];
  for (const [what, given, status, code, way] of refused) {
    const answer = await (way === 'raw' ? raw(given) : form(given)).catch((error: unknown) => {
      throw new Error(what, { cause: error });
    });
    assert.equal(answer.status, status, `${what}: ${JSON.stringify(answer.body)}`);
    assert.equal(answer.body.error, code, what);
  }
  // Forms that are none, or hold something else.
  const headers = { authorization: `Bearer ${keys.agent}` };
  const sent: [what: string, type: string, body: string, status: number][] = [
    ['no boundary', 'multipart/form-data', 'x', 400],
    [
      'a description in Latin-1',
      'multipart/form-data; boundary=b',
      `--b\r\nContent-Disposition: form-data; name="alt"\r\n\r\nTwo qu\xe9s\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="a.svg"\r\n\r\n${SVG}\r\n--b--\r\n`,
      400,
    ],
    [
      'no end',
      'multipart/form-data; boundary=b',
      '--b\r\nContent-Disposition: form-data; name="file"; filename="a.svg"\r\n\r\n<svg',
      400,
    ],
    [
      'no file',
      'multipart/form-data; boundary=b',
      '--b\r\nContent-Disposition: form-data; name="path"\r\n\r\nmedia/a.svg\r\n--b--\r\n',
      400,
    ],
    [
      'another field',
      'multipart/form-data; boundary=b',
      `--b\r\nContent-Disposition: form-data; name="x"; filename="a.svg"\r\n\r\n${SVG}\r\n--b--\r\n`,
      400,
    ],
    [
      'two files',
      'multipart/form-data; boundary=b',
      `${`--b\r\nContent-Disposition: form-data; name="file"; filename="a.svg"\r\n\r\n${SVG}\r\n`.repeat(2)}--b--\r\n`,
      400,
    ],
    ['nothing at all', '', '', 415],
  ];
  for (const [what, type, body, status] of sent) {
    const answer = await fetch(`${root}/api/v1/media`, {
      method: 'POST',
      headers: { ...headers, 'content-type': type },
      body: Buffer.from(body, 'latin1'),
    }).catch((error: unknown) => {
      throw new Error(what, { cause: error });
    });
    const said = await answer.text();
    assert.equal(answer.status, status, `${what}: ${said}`);
    if (what === 'no boundary') assert.match(said, /has no boundary/);
    if (what.includes('Latin-1')) assert.match(said, /alt is not UTF-8/);
  }
  // A file's own name never leads anywhere.
  const named = await form({ bytes: SVG, name: '../../../etc/x.svg', type: 'image/svg+xml' });
  assert.equal(named.status, 201);
  assert.match(named.body.path, /^media\/(?:x\.svg|uploads\/[0-9a-f]{16}\.svg)$/);
  // Without a key, and with another's, nothing is read.
  const stranger = newKeyText('nrf_', (length) => new Uint8Array(length).fill(7));
  assert.equal((await ask(url, `/${PAPER}/api/v1/media`, {}, 'POST')).status, 401);
  assert.equal((await form({ bytes: SVG, path: 'media/a.svg' }, stranger)).status, 401);

  // A caller who goes away in the middle.
  const head = `POST /${PAPER}/api/v1/media HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${keys.agent}\r\nContent-Type: image/png\r\nX-Media-Path: media/cut.png\r\nContent-Length: ${good.length}\r\n\r\n`;
  const caller = connect(Number(new URL(url).port), '127.0.0.1');
  caller.write(head);
  caller.write(good.subarray(0, 50));
  await until(() => (uploads().length > 0 ? true : null));
  caller.destroy();
  await until(() => (uploads().length === 0 ? true : null));

  const { body } = await call('GET', '/api/v1/media?limit=200');
  assert.ok(!body.media.some(({ path }: { path: string }) => /media\/(?:a|cut)\b/.test(path)));
  assert.deepEqual(uploads(), []);
  assert.deepEqual(failuresIn(said), []);
});

test('fifty concurrent uploads to one path store one file', { skip: ONLY_WIDE }, async (t) => {
  const { call, form, signTerms, uploads, said } = await openDesk(t);
  await signTerms();
  const bytes = await png('#abcdef');
  const same = await Promise.all(Array.from({ length: 50 }, () => form({ bytes, path: 'media/same.png' })));
  assert.equal(same.filter(({ status }) => status === 201).length, 1);
  assert.equal(same.filter(({ status }) => status === 200).length, 49);
  const others = await Promise.all(
    Array.from({ length: 50 }, async (_, n) =>
      form({ bytes: await png(`#0000${(n + 16).toString(16)}`), path: 'media/other.png' }),
    ),
  );
  const [taken, ...more] = others.filter(({ status }) => status === 201);
  assert.equal(more.length, 0);
  assert.equal(others.filter(({ status }) => status === 409).length, 49);
  const { body } = await call('GET', '/api/v1/media?limit=200');
  const found = body.media.filter(({ path }: { path: string }) => path === 'media/other.png');
  assert.equal(found.length, 1);
  assert.equal(found[0].sha256, taken?.body.sha256);
  assert.deepEqual(uploads(), []);
  assert.deepEqual(failuresIn(said), []);
});

test('a server that is killed in the middle of an upload keeps nothing of it', { skip: ONLY_WIDE }, async (t) => {
  const { url, child, ended, keys, signTerms, uploads, folder } = await openDeskWith(serve, t);
  await signTerms();
  const caller = connect(Number(new URL(url).port), '127.0.0.1');
  caller.on('error', () => {});
  caller.write(
    `POST /${PAPER}/api/v1/media HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${keys.agent}\r\nContent-Type: image/svg+xml\r\nX-Media-Path: media/cut.svg\r\nContent-Length: ${SVG.length}\r\n\r\n${SVG.slice(0, 20)}`,
  );
  await until(() => (uploads().length > 0 ? true : null));
  child.kill('SIGKILL');
  await ended;
  const next = await serveHere(t, folder);
  assert.deepEqual(uploads(), []);
  const rows = await (
    await fetch(`${next.url}/${PAPER}/api/v1/media`, { headers: { authorization: `Bearer ${keys.read}` } })
  ).json();
  assert.ok(!rows.media.some(({ path }: { path: string }) => path === 'media/cut.svg'));
  await next.stop();
  const audit = await run(t, folder, ['audit']);
  assert.equal(audit.code, 0, audit.stdout);
});

test('a full disk refuses an upload and says so', { skip: ONLY_WIDE }, async (t) => {
  const disk = mkdtempSync(join(tmpdir(), 'broadsheet-disk-'));
  const isMounted =
    process.platform === 'linux' && spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=40m', 'tmpfs', disk]).status === 0;
  t.after(() => {
    if (isMounted) spawnSync('umount', ['-l', disk]);
    rmdirSync(disk);
  });
  if (!isMounted) return t.skip('this user may not mount a small disk');
  let media = '';
  // Before the folder is removed.
  t.after(() => media !== '' && spawnSync('umount', ['-l', media]));
  const folder = tempFolder(t);
  const { raw, form, signTerms, root, uploads } = await openDesk(t, {}, folder);
  await signTerms();
  media = join(folder, 'var/media');
  mkdirSync(media, { recursive: true });
  assert.equal(spawnSync('mount', ['--bind', disk, media]).status, 0);
  // Little more than there is room for: a client that sends on for long after the answer may lose it.
  const large = new Uint8Array(42 * 1024 * 1024);
  for (const answer of [
    await raw({ bytes: large, path: 'media/large.mp4', type: 'video/mp4' }),
    await form({ bytes: large, path: 'media/large.mp4' }),
  ]) {
    assert.equal(answer.status, 503, JSON.stringify(answer.body));
    assert.match(answer.body.message, /the server’s disk is full; nothing was saved/);
  }
  assert.deepEqual(uploads(), []);
  assert.equal((await form({ bytes: await png('#111'), path: 'media/small.png' })).status, 201);
  assert.equal((await fetch(`${root}/media/small.png`)).status, 200);
});
