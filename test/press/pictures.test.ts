import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { test } from 'node:test';
import sharp from 'sharp';
import { append } from '../../src/desk/append.ts';
import { PressQueue } from '../../src/desk/jobs/press-queue.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import type { Media } from '../../src/desk/papers/media.ts';
import { drawVariants } from '../../src/media/draw-variants.ts';
import { inspectMedia } from '../../src/media/inspect.ts';
import { pictureId, variantsOf } from '../../src/media/variants.ts';
import { auditApp } from '../../src/operate/audit/audit.ts';
import type { AppContext } from '../../src/server/context.ts';
import { appContextIn, createPaper, PAPER, type Scope, tempFolder, treeOf } from '../support/app-context.ts';
import { ownPictures } from '../support/empty-database.ts';
import { assertSameTree, fullPress } from '../support/full-press.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const clock = { now: Date.parse('2026-11-20T12:00:00Z') };

/** A plain picture whose bytes depend on `seed`. */
function drawing(seed: number, width = 200, height = 120): ReturnType<typeof sharp> {
  const background = { r: (seed * 37) % 256, g: (seed * 91) % 256, b: seed % 256 };
  return sharp({ create: { width, height, channels: 3, background } });
}

async function keep(app: AppContext, path: string, bytes: Uint8Array): Promise<Media> {
  const media = await inspectMedia(path, bytes);
  app.store.media.keepBytes(media.digest, bytes);
  app.store.database.transact(() =>
    append(app.store.desk, { type: 'record', at: clock.now, paper: PAPER, kind: 'media', name: path, body: media }),
  );
  return media;
}

async function paperWith(t: Scope, count: number): Promise<{ app: AppContext; folder: string; tree: string }> {
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, clock);
  ownPictures(app.settings.dataDir);
  createPaper(app);
  for (let n = 0; n < count; n++)
    await keep(
      app,
      `media/p${n}.jpg`,
      await drawing(n + 1)
        .jpeg()
        .toBuffer(),
    );
  return { app, folder, tree: join(folder, 'papers', PAPER) };
}

const drawn = (tree: string) => [...treeOf(tree).keys()].filter((path) => path.startsWith('pictures/'));

async function variants(t: Scope, bytes: Uint8Array, path = 'media/x.jpg'): Promise<Map<string, Uint8Array>> {
  const file = join(tempFolder(t), 'x');
  writeFileSync(file, bytes);
  const media = await inspectMedia(path, bytes);
  return drawVariants(() => readFile(file), variantsOf(media), { width: media.width ?? 0, height: media.height ?? 0 });
}

const widthsOf = async (t: Scope, bytes: Uint8Array) =>
  [...(await variants(t, bytes)).keys()]
    .filter((path) => path.endsWith('.avif'))
    .map((path) => /-(\d+)\./.exec(path)?.[1]);

test('a picture has its widths in AVIF and WebP, none wider than itself', async (t) => {
  assert.deepEqual(await widthsOf(t, await drawing(1, 2000, 100).jpeg().toBuffer()), ['160', '400', '800', '1600']);
  assert.deepEqual(await widthsOf(t, await drawing(1, 1000, 100).jpeg().toBuffer()), ['160', '400', '800', '1000']);
  assert.deepEqual(await widthsOf(t, await drawing(1, 400, 100).jpeg().toBuffer()), ['160', '400']);
  assert.deepEqual(await widthsOf(t, await drawing(1, 90, 100).jpeg().toBuffer()), ['90']);
  for (const [path, bytes] of await variants(t, await drawing(1, 1000, 500).png().toBuffer(), 'media/x.png')) {
    const { format, width, height } = await sharp(bytes).metadata();
    assert.equal(format, path.endsWith('.avif') ? 'heif' : 'webp');
    assert.equal(path, path.replace(/-\d+\./, `-${width}.`));
    assert.equal(height, Math.round((width ?? 0) / 2));
  }
});

test('SVG and animations have no variants', async () => {
  const record = { digest: 'sha256:00', width: 900, height: 900, bytes: 1, path: 'media/x' };
  assert.deepEqual(variantsOf({ ...record, media_type: 'image/svg+xml', duration_ms: null }), []);
  assert.deepEqual(variantsOf({ ...record, media_type: 'image/gif', duration_ms: null }), []);
  const frames = [await drawing(1).png().toBuffer(), await drawing(2).png().toBuffer()];
  const moving = await sharp(frames, { join: { animated: true } })
    .webp({ delay: [100, 150] })
    .toBuffer();
  const media = await inspectMedia('media/x.webp', moving);
  assert.equal(media.duration_ms, 250);
  assert.deepEqual(variantsOf(media), []);
});

test('a variant is upright, in sRGB, and carries no metadata; equal pictures give equal bytes', async (t) => {
  const halves = await drawing(1, 300, 200)
    .composite([
      {
        input: await sharp({ create: { width: 150, height: 200, channels: 3, background: '#f00' } })
          .png()
          .toBuffer(),
        left: 0,
        top: 0,
      },
    ])
    .toColourspace('cmyk')
    .jpeg({ quality: 100 })
    .withMetadata({ orientation: 6, icc: 'cmyk' })
    .withExifMerge({ IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '59/1 20/1 0/1' }, IFD0: { Copyright: 'A. Body' } })
    .toBuffer();
  assert.equal((await sharp(halves).metadata()).space, 'cmyk');
  const first = await variants(t, halves);
  for (const bytes of first.values()) {
    const meta = await sharp(bytes).metadata();
    assert.deepEqual(
      [meta.space, meta.exif, meta.xmp, meta.icc, meta.iptc],
      ['srgb', undefined, undefined, undefined, undefined],
    );
    assert((meta.height ?? 0) > (meta.width ?? 0), 'turned upright');
    // The left half is at the top of the turned picture.
    const { data } = await sharp(bytes)
      .extract({ left: 10, top: 5, width: 1, height: 1 })
      .raw()
      .toBuffer({ resolveWithObject: true });
    assert((data[0] ?? 0) > 180 && (data[1] ?? 255) < 90, `red, not ${[...data]}`);
  }
  assert.deepEqual([...(await variants(t, halves))], [...first]);
});

test('a picture that cannot be decoded becomes a grey one of its shape, because pages name its files', async (t) => {
  const file = join(tempFolder(t), 'x');
  writeFileSync(file, 'not a picture');
  const wanted = variantsOf({ digest: 'sha256:00', media_type: 'image/jpeg', width: 500, duration_ms: null });
  const shown = [...(await drawVariants(() => readFile(file), wanted, { width: 500, height: 250 })).values()];
  const { width, height } = await sharp(shown[2]).metadata();
  assert.deepEqual([shown.length, width, height], [6, 500, 250]);
  // A disk's error is not the picture's: what is drawn is kept for good.
  await assert.rejects(
    drawVariants(() => readFile(`${file}-gone`), wanted, { width: 500, height: 250 }),
    { code: 'ENOENT' },
  );
});

test('a few new pictures are drawn before the pages; many are left to later presses, and nothing is drawn twice', {
  skip: ONLY_WIDE,
}, async (t) => {
  const { app, folder, tree } = await paperWith(t, 16);
  const seen: string[] = [];
  const presses = new PressQueue(app);
  t.after(() => presses.close());
  const report = await presses.press(PAPER);
  assert.notEqual(report, null);
  // The pages are public, whatever pictures are left.
  assert(
    app.store.desk.manifest.isPressed(PAPER, app.store.desk.manifest.lastChange(PAPER)) ||
      (report?.pictures_left ?? 0) > 0,
  );
  assert.equal(
    [...app.store.desk.manifest.staleDependencies(PAPER)].filter((dependency) => dependency.startsWith('picture:'))
      .length,
    report?.pictures_left,
  );
  while ((await presses.press(PAPER)) !== null);
  assert.equal(drawn(tree).length, 64);
  assert.deepEqual((await auditApp(app, { deep: true })).faults, []);
  assertSameTree(treeOf(tree), await fullPress(t, folder, clock, true));
  // Another paper tree, the same cache: nothing is drawn.
  const cache = join(folder, 'var/pictures');
  const before = readdirSync(cache, { recursive: true, withFileTypes: true }).length;
  rmSync(tree, { recursive: true });
  await pressPapers(app, { full: true, progress: (_paper, _done, _total, what) => seen.push(what) });
  assert.equal(readdirSync(cache, { recursive: true, withFileTypes: true }).length, before);
  assert(seen.indexOf('picture/media/p0.jpg') < seen.indexOf('front'), 'what is drawn is written before the pages');
  const one = await keep(app, 'media/new.jpg', await drawing(99).jpeg().toBuffer());
  seen.length = 0;
  await pressPapers(app, { progress: (_paper, _done, _total, what) => seen.push(what) });
  assert(drawn(tree).some((path) => path.includes(pictureId(one))));
});

test('a picture that is replaced under its name gets new addresses, and the old files go', async (t) => {
  const { app, tree } = await paperWith(t, 1);
  const same = await keep(app, 'media/same.jpg', await drawing(1).jpeg().toBuffer());
  await pressPapers(app);
  const old = drawn(tree);
  assert.deepEqual(
    old.filter((path) => path.includes(pictureId(same))),
    old,
  );
  // Another media file still has the old content.
  await keep(app, 'media/p0.jpg', await drawing(50).jpeg().toBuffer());
  await pressPapers(app);
  assert.deepEqual((await auditApp(app)).faults, []);
  assert.equal(drawn(tree).length, 8);
  await keep(app, 'media/same.jpg', await drawing(50).jpeg().toBuffer());
  await pressPapers(app);
  assert.deepEqual((await auditApp(app)).faults, []);
  assert.equal(drawn(tree).length, 4);
});

test('two processes that draw the same pictures, one of them killed, leave whole files only', {
  skip: ONLY_WIDE,
}, async (t) => {
  const { app, folder } = await paperWith(t, 6);
  const script = `
    const { openAppContext } = await import('../../src/server/context.ts');
    const { readSettings } = await import('../../src/server/env.ts');
    const { variantsOf } = await import('../../src/media/variants.ts');
    const app = openAppContext(readSettings({ ...process.env }));
    const archive = app.store.desk.archive(${JSON.stringify(PAPER)});
    process.stdout.write('ready');
    for (const path of archive.mediaPaths()) {
      const media = archive.media(path);
      await Promise.all(variantsOf(media).map((variant) => app.store.pictures.variant(media, variant)));
    }
    app.close();`;
  const run = () =>
    spawn(
      process.execPath,
      ['--input-type=module', '-e', script.replaceAll('../../src', new URL('../../src', import.meta.url).href)],
      {
        env: { ...process.env, DATA_DIR: join(folder, 'var'), LOG_LEVEL: 'silent' },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
  const [first, second] = [run(), run()];
  // It may end before the other one is ready.
  const ended = once(second, 'exit');
  await Promise.all([once(first.stdout, 'data'), once(second.stdout, 'data')]);
  first.kill('SIGKILL');
  const [code] = await ended;
  assert.equal(code, 0);
  const archive = app.store.desk.archive(PAPER);
  const cache = join(folder, 'var/pictures');
  for (const path of archive.mediaPaths()) {
    const media = archive.media(path) as Media;
    for (const variant of variantsOf(media)) {
      const bytes = await app.store.pictures.variant(media, variant);
      assert.equal((await sharp(bytes).stats()).channels.length, 3);
    }
    assert(app.store.pictures.isDrawn(media));
  }
  // What a killed process leaves is hidden, and swept by a later one.
  const left = readdirSync(cache, { recursive: true }).filter((name) => /(?:^|\/)\.[^/]*$/.test(String(name)));
  assert(left.length <= 1, left.join());
});

test('the event loop answers while many pictures are drawn', async (t) => {
  const { app } = await paperWith(t, 12);
  const delay = monitorEventLoopDelay({ resolution: 5 });
  const archive = app.store.desk.archive(PAPER);
  delay.enable();
  await Promise.all(
    archive.mediaPaths().map((path) => {
      const media = archive.media(path) as Media;
      return Promise.all(variantsOf(media).map((variant) => app.store.pictures.variant(media, variant)));
    }),
  );
  delay.disable();
  t.diagnostic(`p99 ${Math.round(delay.percentile(99) / 1e6)} ms, most ${Math.round(delay.max / 1e6)} ms`);
  assert(delay.percentile(50) < 100e6);
});
