import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import sharp from 'sharp';
import { airStory } from '../../src/desk/airing.ts';
import { append } from '../../src/desk/append.ts';
import type { Filing } from '../../src/desk/door/piece.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { CastBody } from '../../src/desk/papers/cast.ts';
import { PaperBody } from '../../src/desk/papers/paper.ts';
import { castFrom } from '../../src/desk/papers/record.ts';
import { inspectMedia } from '../../src/media/inspect.ts';
import { auditApp } from '../../src/operate/audit/audit.ts';
import { type AppContext, deskOf } from '../../src/server/context.ts';
import { PROJECT } from '../../src/shared/project.ts';
import { filing, PAPER, PERSONAS, type Scope, treeOf } from '../support/app-context.ts';
import { assertSameTree } from '../support/full-press.ts';
import { START } from '../support/pressed-paper.ts';
import { mp3 } from '../support/sounds.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { paperOf } from './paper-copy.ts';

const VIDEO = readFileSync(join(PROJECT, 'content/the-plumb-line/media/cast/2026-11-17.mp4'));

const picture = (width: number, height: number, format: 'jpeg' | 'png' | 'webp' | 'avif' | 'gif') =>
  sharp({ create: { width, height, channels: 3, background: { r: 200, g: 30, b: 90 } } })
    .toFormat(format)
    .toBuffer();

const LOGO = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 90 30"><rect width="90" height="30"/></svg>';

/** A paper that shows media in every place that can show some. */
async function illustrated(t: Scope) {
  const stand = await paperOf(t, 1);
  const { app } = stand;
  const media: Record<string, Uint8Array> = {
    'media/art.jpg': await picture(800, 400, 'jpeg'),
    'media/in-prose.png': await picture(300, 200, 'png'),
    'media/poster.webp': await picture(640, 360, 'webp'),
    'media/face.avif': await picture(80, 80, 'avif'),
    'media/loop.gif': await picture(40, 20, 'gif'),
    'media/logo.svg': Buffer.from(LOGO),
    'media/icon.svg': Buffer.from(LOGO),
    'media/style.css': Buffer.from('h1 { letter-spacing: 1px }'),
    'media/day.mp4': VIDEO,
    'media/day.vtt': Buffer.from('WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n'),
    'media/sound.mp3': mp3(2),
    'media/sound.vtt': Buffer.from('WEBVTT\n\n00:00.000 --> 00:01.000\nGood evening\n'),
  };
  for (const [path, bytes] of Object.entries(media)) await file(app, path, bytes);
  record(app, 'paper', '', {
    ...PaperBody.parse(app.store.desk.record(PAPER, 'paper', '')),
    logo: 'media/logo.svg',
    icon: 'media/icon.svg',
    style: 'media/style.css',
  });
  const persona = app.store.desk.record(PAPER, 'persona', PERSONAS[0] ?? '') as object;
  record(app, 'persona', PERSONAS[0] ?? '', { ...persona, avatar: 'media/face.avif' });
  const cast = { title: 'The day', description: 'In a minute.', video: 'media/day.mp4', poster: 'media/poster.webp' };
  const measured = { duration_s: 1, bytes: VIDEO.length, media_type: 'video/mp4' };
  record(app, 'cast', '2026-11-20', { day: '2026-11-20', ...cast, captions: 'media/day.vtt', ...measured });
  const audio = { title: 'The evening', audio: 'media/sound.mp3', transcript: 'media/sound.vtt' };
  record(app, 'cast', '2026-11-21', castFrom(app.store.desk.archive(PAPER), '2026-11-21', CastBody.parse(audio)));
  publish(app, 'illustrated', {
    image: { src: 'media/art.jpg', alt: 'A red door', credit: 'Ada' },
    prose: 'One thing is so.[^1]\n\n![A red wall](media/in-prose.png)\n\n![A loop](media/loop.gif)\n\nSo is this.[^2]',
  });
  return { ...stand, media };
}

async function file(app: AppContext, path: string, bytes: Uint8Array): Promise<void> {
  const body = await inspectMedia(path, bytes);
  app.store.media.keepBytes(body.digest, bytes);
  record(app, 'media', path, body);
}

function record(app: AppContext, kind: 'paper' | 'persona' | 'cast' | 'media', name: string, body: object): void {
  app.store.database.transact(() =>
    append(app.store.desk, { type: 'record', at: app.clock.now(), paper: PAPER, kind, name, body }),
  );
}

function publish(app: AppContext, slug: string, more: Partial<Filing>): void {
  const desk = deskOf(app);
  fileStory(desk, PAPER, filing(slug, more), { by: 'cli' });
  airStory(desk, PAPER, slug, { by: 'cli', at: START });
}

const fileOf = (app: AppContext, path: string) =>
  app.store.media.pathOf(app.store.desk.archive(PAPER).media(path)?.digest ?? '');
const pressed = async (app: AppContext, full = false) => (await pressPapers(app, { full })).get(PAPER);
const faultsOf = async (app: AppContext) => (await auditApp(app, { deep: true })).faults;

test('a restore without media puts everything else on air, with neutral pictures in their places', {
  skip: ONLY_WIDE,
}, async (t) => {
  const { app, folder, tree, media } = await illustrated(t);
  await pressed(app);
  assert.deepEqual(await faultsOf(app), []);
  const before = treeOf(tree);
  const names = Object.keys(media).sort();
  for (const gone of ['var/media', 'var/pictures', 'papers']) rmSync(join(folder, gone), { recursive: true });

  const report = await pressed(app);
  assert.deepEqual(report?.missing, names);
  const page = readFileSync(join(tree, 'stories/illustrated/index.html'), 'utf8');
  assert.match(page, /alt="A red door"/);
  assert.match(page, /alt="A red wall"/);
  assert.doesNotMatch(page, /pictures\/[0-9a-f]{20}-/, 'the addresses of the smaller sizes are kept for good');
  assert.doesNotMatch(page, /media\/logo\.svg/, 'the name in type stands in for a logo');
  for (const [path, [format, width, height]] of Object.entries({
    'media/art.jpg': ['jpeg', 800, 400],
    'media/in-prose.png': ['png', 300, 200],
    'media/poster.webp': ['webp', 640, 360],
    'media/face.avif': ['heif', 80, 80],
    'media/loop.gif': ['gif', 40, 20],
    'media/logo.svg': ['svg', 90, 30],
  })) {
    const shown = await sharp(join(tree, path)).metadata();
    assert.deepEqual([shown.format, shown.width, shown.height], [format, width, height], path);
  }
  assert.match(readFileSync(join(tree, 'media/day.vtt'), 'utf8'), /^WEBVTT\n$/);
  assert.ok(!existsSync(join(tree, 'media/day.mp4')));
  const cast = readFileSync(join(tree, 'cast/2026-11-20/index.html'), 'utf8');
  assert.doesNotMatch(cast, /<video|day\.mp4/);
  assert.match(cast, /media\/poster\.webp/);
  assert.doesNotMatch(readFileSync(join(tree, 'podcast.xml'), 'utf8'), /day\.mp4/);
  const heard = readFileSync(join(tree, 'cast/2026-11-21/index.html'), 'utf8');
  assert.doesNotMatch(heard, /<audio|sound\.mp3|Good evening|PodcastEpisode/);
  assert.match(heard, /The evening/);
  assert.doesNotMatch(readFileSync(join(tree, 'podcast.xml'), 'utf8'), /sound\.mp3/);
  assert.ok(!existsSync(join(tree, 'media/sound.mp3')));
  const faults = await faultsOf(app);
  assert.equal(faults.length, names.length, faults.join('\n'));
  for (const name of names) {
    assert.ok(
      faults.some((fault) => fault.startsWith(`${PAPER}/${name}: its bytes in DATA_DIR are missing`)),
      name,
    );
  }
  // A change of something else presses that alone, and repeats what is missing.
  publish(app, 'another', {});
  assert.deepEqual((await pressed(app))?.missing, names);

  for (const [path, bytes] of Object.entries(media)) {
    app.store.media.keepBytes(app.store.desk.archive(PAPER).media(path)?.digest ?? '', bytes);
  }
  assert.ok((await faultsOf(app)).every((fault) => /is back.*broadsheet -- press/.test(fault)));
  assert.deepEqual((await pressed(app))?.missing, []);
  assert.deepEqual(await faultsOf(app), []);
  const after = treeOf(tree);
  assert.match(after.get('cast/2026-11-20/index.html') ?? '', /<video.*media\/day\.mp4/);
  assert.match(after.get('podcast.xml') ?? '', /media\/day\.mp4/);
  assert.match(after.get('cast/2026-11-21/index.html') ?? '', /<audio.*media\/sound\.mp3.*Good evening/s);
  assert.match(after.get('podcast.xml') ?? '', /media\/sound\.mp3/);
  for (const path of [...before.keys()].filter((each) => /^(?:media|pictures|icons)\//.test(each))) {
    assert.equal(after.get(path), before.get(path), path);
  }
});

test('a damaged picture is neither shown nor drawn from, and only the desk is told', { skip: ONLY_WIDE }, async (t) => {
  const { app, tree, media } = await illustrated(t);
  const at = fileOf(app, 'media/art.jpg');
  writeFileSync(at, Buffer.from(media['media/art.jpg'] ?? []).fill(0, 200, 300));
  const report = await pressed(app);
  assert.deepEqual(report?.missing, ['media/art.jpg']);
  const shown = await sharp(join(tree, 'media/art.jpg')).stats();
  assert.ok(Math.abs((shown.channels[0]?.mean ?? 0) - (shown.channels[2]?.mean ?? 0)) < 30, 'a neutral picture');
  assert.match(readFileSync(join(tree, 'stories/illustrated/index.html'), 'utf8'), /in-prose|pictures\//);
  assert.deepEqual(
    (await faultsOf(app)).filter((fault) => !fault.includes('media/art.jpg: its bytes in DATA_DIR are damaged')),
    [],
  );
  // To keep it again is to mend it, though a file of its name is there.
  app.store.media.keepBytes(
    app.store.desk.archive(PAPER).media('media/art.jpg')?.digest ?? '',
    media['media/art.jpg'] ?? Buffer.of(),
  );
  assert.deepEqual((await pressed(app))?.missing, []);
  assert.deepEqual(await faultsOf(app), []);
});

test('the pressed tree supplies missing media', { skip: ONLY_WIDE }, async (t) => {
  const { app, folder } = await illustrated(t);
  await pressed(app);
  const tree = treeOf(join(folder, 'papers', PAPER));
  rmSync(join(folder, 'var/media'), { recursive: true });
  const report = await pressed(app, true);
  assert.deepEqual(report?.missing, []);
  assertSameTree(treeOf(join(folder, 'papers', PAPER)), tree);
  assert.deepEqual(await faultsOf(app), []);
});
