import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { castRow } from '../../src/desk/papers/cast.ts';
import { present } from '../../src/proof/narrow.ts';
import { pspFaults } from '../press/feeds/psp-1.ts';
import { all, asNode, one, readXml, text } from '../press/feeds/read-xml.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';
import { run } from '../support/program.ts';
import { serveHere } from '../support/serve-here.ts';
import { enterPapers } from '../support/small-papers.ts';
import { chapFrame, id3, m4a, mp3 } from '../support/sounds.ts';

const PAPER = 'the-tide';
const DAY = '2026-11-20';
const AUDIO = 'media/cast/day.mp3';
const VTT = 'media/cast/day.vtt';
const CHAPTERS = [
  { time: 0, title: 'Good morning' },
  { time: 30.5, title: 'The late tide' },
];
const TAG = id3(CHAPTERS.map((chapter) => chapFrame(chapter)));
const SAID =
  'WEBVTT\n\n00:00.000 --> 00:04.000\n<v Vera Holm>High water &amp; low.\n\n00:04.000 --> 00:05.000\n<v Ibo Sand>Quite.\n';

async function openDesk(t: TestContext) {
  const folder = tempFolder(t);
  const keys = (await enterPapers(folder, [{ slug: PAPER }])).get(PAPER);
  assert.ok(keys);
  const serving = await serveHere(t, folder);
  const root = `${serving.url}/${PAPER}`;
  const send = async (method: string, path: string, headers: Record<string, string>, body?: BodyInit) => {
    const all = { authorization: `Bearer ${keys.admin}`, ...headers };
    const answer = await fetch(root + path, { method, headers: all, ...(body === undefined ? {} : { body }) });
    return { status: answer.status, body: await answer.json() };
  };
  const put = (body: object, day = DAY) =>
    send('PUT', `/api/v1/cast/${day}`, { 'content-type': 'application/json' }, JSON.stringify(body));
  const upload = (path: string, type: string, bytes: Uint8Array | string) =>
    send('POST', '/api/v1/media', { 'content-type': type, 'x-media-path': path }, bytes as BodyInit);
  const page = async (path: string) => (await fetch(root + path)).text();
  return { ...serving, root, folder, send, put, upload, page };
}

test('an edition of sound alone: upload, page, podcast, row, card, and what is refused', async (t) => {
  const { root, folder, send, put, upload, page, stop } = await openDesk(t);
  const sound = mp3(60, { tag: TAG });
  const row = (await upload(AUDIO, 'audio/mp3', sound)).body;
  assert.deepEqual(
    [row.media_type, row.duration_s, row.bytes, row.width],
    ['audio/mpeg', 60.003, sound.length, null],
    JSON.stringify(row),
  );
  assert.equal((await upload(VTT, 'text/vtt', SAID)).status, 201);

  await t.test('files that are not what they should be are refused', async () => {
    for (const [path, type, bytes, message] of [
      ['media/a.mp3', 'audio/mpeg', sound.subarray(0, -9), /media\/a\.mp3 is cut short: its last frame should end at/],
      ['media/a.mp3', 'audio/mpeg', '<!doctype html><p>404', /media\/a\.mp3 holds HTML or XML, so it is not MP3;/],
      ['media/a.m4a', 'audio/x-m4a', m4a({ seconds: 1, handler: 'vide' }), /media\/a\.m4a has a video track;/],
      ['media/a.m4a', 'audio/mp4', sound, /media\/a\.m4a does not begin with an ftyp box/],
    ] as const) {
      const { status, body } = await upload(path, type, bytes);
      assert.deepEqual([status, body.error], [422, 'refused_by_door']);
      assert.match(body.problems[0].message, message);
    }
    assert.equal((await upload('media/a.mp3', 'audio/mp4', sound)).status, 415);
    assert.equal(
      (await send('GET', '/api/v1/media', {})).body.media.filter(({ path = '' }) => /a\.m/.test(path)).length,
      0,
    );
  });

  await t.test('records that make no edition are refused, and each names the field', async () => {
    const good = { title: 'The day', audio: AUDIO };
    for (const [body, field, message] of [
      [{ title: 'The day' }, 'video', /add it, or the path of an MP3 or M4A file in `audio`/],
      [{ ...good, video: 'media/cast/2026-11-16.mp4' }, 'audio', /take out `video` or `audio`/],
      [{ ...good, captions: VTT }, 'captions', /name the file in `transcript`/],
      [{ title: 'x', video: 'media/cast/2026-11-16.mp4', poster: 'p', transcript: VTT }, 'transcript', /`captions`/],
      [{ ...good, chapters: [{ time: '1:99', title: 'x' }] }, 'chapters[0].time', /such as 1:05/],
      [{ ...good, chapters: [CHAPTERS[1], CHAPTERS[0]] }, 'chapters[1].time', /later than the chapter before/],
      [{ ...good, chapters: [{ time: 1, title: ' ' }] }, 'chapters[0].title', /must not be empty/],
      [{ ...good, chapters: Array(501).fill(CHAPTERS[0]) }, 'chapters', /at most 500 elements/],
    ] as const) {
      const answer = await put(body);
      assert.equal(answer.status, 400, JSON.stringify(answer.body));
      const found = answer.body.problems.find((problem: { field: string }) => problem.field === field);
      assert.match(found?.message ?? JSON.stringify(answer.body), message);
    }
    for (const [body, field, message] of [
      [{ ...good, audio: VTT }, 'audio', /is text\/vtt, not audio\//],
      [{ ...good, audio: 'media/none.mp3' }, 'audio', /is not a media file of this paper/],
      [{ ...good, transcript: AUDIO }, 'transcript', /is audio\/mpeg, not text\/vtt/],
      [
        { ...good, chapters: [{ time: '1:00:00', title: 'Late' }] },
        'chapters[0].time',
        /3600 s is not before the end.*60\.003/,
      ],
    ] as const) {
      const answer = await put(body);
      assert.equal(answer.status, 422, JSON.stringify(answer.body));
      assert.equal(answer.body.problems[0].field, field);
      assert.match(answer.body.problems[0].message, message);
    }
  });

  const written = await put({ title: 'The day', audio: AUDIO, transcript: VTT });
  assert.equal(written.status, 200, JSON.stringify(written.body));
  assert.deepEqual([written.body.duration_s, written.body.chapters], [60, CHAPTERS]);

  const shown = {
    day: DAY,
    title: 'The day',
    audio_url: `${root}/${AUDIO}`,
    embed_url: `${root}/cast/${DAY}/embed/`,
    page_url: `${root}/cast/${DAY}/`,
    duration_s: 60,
    bytes: sound.length,
    media_type: 'audio/mpeg',
    chapters: CHAPTERS,
    transcript_url: `${root}/${VTT}`,
  };
  await t.test('its row has its audio, chapters and transcript, and can be sent back', async () => {
    const [first, second] = (await send('GET', '/api/v1/cast', {})).body.cast;
    assert.deepEqual(first, shown);
    const members = 'day title video_url poster_url embed_url page_url duration_s bytes media_type';
    assert.deepEqual(Object.keys(second), members.split(' '), 'a video edition is as it was');
    const again = await put({ ...first, title: 'The day, again' });
    assert.equal(again.status, 200, JSON.stringify(again.body));
    const longer = { tag: id3([chapFrame({ time: 2, title: 'Anew' })]) };
    assert.equal((await upload('media/cast/new.mp3', 'audio/mpeg', mp3(5, longer))).status, 201);
    const moved = await put({ audio: 'media/cast/new.mp3' });
    assert.deepEqual(moved.body.chapters, [{ time: 2, title: 'Anew' }], 'chapters of a file stay those of the file');
    assert.deepEqual((await put({ audio: AUDIO, title: 'The day' })).body.chapters, CHAPTERS);
  });

  await t.test('its page has a player, links to chapters, and what is said', async () => {
    const html = await page(`/cast/${DAY}/`);
    assert.match(html, new RegExp(`<audio controls[^>]*><source src="/${PAPER}/${AUDIO}" type="audio/mpeg">`));
    assert.match(html, new RegExp(`href="/${PAPER}/${AUDIO}#t=30\\.5" data-seek="30\\.5">`));
    assert.match(html, /<b>Vera Holm<\/b>.*High water &amp; low\.<\/p>.*<b>Ibo Sand<\/b>.*Quite\.<\/p>/s);
    assert.match(html, /"@type":"PodcastEpisode".*"@type":"AudioObject".*"encodingFormat":"audio\/mpeg"/);
    assert.match(html, /property="og:image" content="[^"]*\/cards\/cover-[0-9a-f]+\.png"/);
    assert.match(await page(`/cast/${DAY}/embed/`), /<audio controls/);
    assert.match(await page('/cast/'), /<h1>Podcast<\/h1>.*Listen: The day/s);
    assert.match(await page('/'), /The audio edition/);
    assert.match(await page('/subscribe/'), /The podcast too/);
    assert.match(await page('/llms.txt'), /\/podcast\.xml\): the editions to hear or to watch/);
    assert.match(await page('/sitemaps/pages.xml'), new RegExp(`/cast/${DAY}/</loc>`));
  });

  await t.test('its podcast names the sound, its chapters and its transcript', async () => {
    const xml = await page('/podcast.xml');
    assert.deepEqual(pspFaults(xml, `${root}/podcast.xml`), []);
    const channel = one(one(readXml(xml), 'rss'), 'channel');
    assert.equal(text(channel, 'podcast:medium'), 'podcast');
    const item = asNode(all(channel, 'item')[0] ?? {});
    const enclosure = { '@url': shown.audio_url, '@length': String(sound.length), '@type': 'audio/mpeg' };
    assert.deepEqual(one(item, 'enclosure'), enclosure);
    assert.equal(text(item, 'itunes:duration'), '60');
    const chapters = one(item, 'podcast:chapters');
    assert.equal(chapters['@type'], 'application/json+chapters');
    const answer = await fetch(String(chapters['@url']));
    assert.equal(answer.headers.get('content-type'), 'application/json+chapters');
    assert.equal(answer.headers.get('access-control-allow-origin'), '*');
    const listed = CHAPTERS.map(({ time, title }) => ({ startTime: time, title }));
    assert.deepEqual(await answer.json(), { version: '1.2.0', chapters: listed });
    const part = await fetch(shown.audio_url, { headers: { range: 'bytes=10-19' } });
    assert.deepEqual([part.status, part.headers.get('content-type')], [206, 'audio/mpeg']);
  });

  await t.test('its oEmbed record is a player of one height', async () => {
    const { body } = await send('GET', `/oembed?url=${encodeURIComponent(shown.page_url)}&maxwidth=300`, {});
    assert.deepEqual([body.type, body.width, body.height], ['rich', 300, 190]);
    assert.ok(body.html.includes(`src="${shown.embed_url}"`));
  });

  await t.test('M4A and chapters of the record; and a video takes its place', async () => {
    assert.equal(
      (await upload('media/cast/day.m4a', 'audio/x-m4a', m4a({ seconds: 70, listed: CHAPTERS }))).status,
      201,
    );
    const chapters = [{ time: '1:05', title: 'At last' }];
    const answer = await put({ audio: 'media/cast/day.m4a', chapters });
    assert.deepEqual(answer.body.chapters, [{ time: 65, title: 'At last' }], JSON.stringify(answer.body));
    assert.match(await page('/podcast.xml'), /day\.m4a" length="\d+" type="audio\/x-m4a"/);
    assert.match(await page(`/cast/${DAY}/`), /day\.m4a" type="audio\/mp4"/);
    assert.equal((await send('DELETE', '/api/v1/media/media/cast/day.m4a', {})).status, 409);
    const video = { video: 'media/cast/2026-11-16.mp4', poster: 'media/cast/2026-11-16.jpg' };
    const turned = await put({ ...video, audio: null, transcript: null, chapters: null });
    assert.equal(turned.status, 200, JSON.stringify(turned.body));
    assert.match(await page(`/cast/${DAY}/`), /<video/);
    assert.equal((await fetch(`${root}/cast/${DAY}/chapters.json`)).status, 404);
    const back = await put({ audio: AUDIO, video: null, poster: null, transcript: VTT });
    assert.equal(back.status, 200, JSON.stringify(back.body));
  });

  // The tree matches the ledger, and a ledger that is read elsewhere gives the same edition.
  assert.equal((await stop()).code, 0);
  const audit = await run(t, folder, ['audit', '--json']);
  assert.equal(audit.code, 0, audit.stdout + audit.stderr);
  const file = join(folder, 'ledger.jsonl');
  assert.equal((await run(t, folder, ['ledger', 'export', file])).code, 0);
  const other = tempFolder(t);
  const imported = await run(t, other, ['ledger', 'import', file]);
  assert.equal(imported.code, 0, imported.stdout + imported.stderr);
  const copied = await run(t, other, ['audit', '--json']);
  assert.equal(copied.code, 0, copied.stdout + copied.stderr);
  assert.equal(castIn(t, other).title, 'The day');
  assert.deepEqual(castIn(t, other), castIn(t, folder));
});

const castIn = (t: TestContext, folder: string) => {
  const app = appContextIn(t, folder, { now: Date.now() });
  return present(app.store.desk.archive(PAPER).cast(DAY));
};

test('a file that was replaced by a shorter one keeps the chapters that it still has', () => {
  const cast = { day: DAY, title: 'x', description: '', captions: null, audio: AUDIO, chapters: CHAPTERS };
  const row = castRow({ ...cast, duration_s: 20, bytes: 1, media_type: 'audio/mpeg' }, 'https://a.example');
  assert.deepEqual(row.chapters, [CHAPTERS[0]]);
  const last = castRow({ ...cast, duration_s: 30, bytes: 1, media_type: 'audio/mpeg' }, 'https://a.example');
  assert.deepEqual(last.chapters, [CHAPTERS[0]], '30.5 s is not in 30.4 s');
  const whole = castRow({ ...cast, duration_s: 31, bytes: 1, media_type: 'audio/mpeg' }, 'https://a.example');
  assert.deepEqual(whole.chapters, CHAPTERS);
  assert.ok(!('video_url' in row) && !('poster_url' in row) && !('transcript_url' in row));
});
