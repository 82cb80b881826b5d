import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import sharp from 'sharp';
import { append } from '../../src/desk/append.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { PageBody } from '../../src/desk/papers/page.ts';
import { PaperBody } from '../../src/desk/papers/paper.ts';
import { inspectMedia } from '../../src/media/inspect.ts';
import type { AppContext } from '../../src/server/context.ts';
import { PAPER, treeOf } from '../support/app-context.ts';
import { assertSameTree, fullPress } from '../support/full-press.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { paperOf } from './paper-copy.ts';

/** Pages of different kinds, whose footers and heads are the same. */
const PAGES = ['index.html', 'stories/piece-0/index.html', 'search/index.html', '404.html'];

async function change({ store, clock: { now } }: AppContext, more: object): Promise<void> {
  const body = PaperBody.parse({ ...(store.desk.record(PAPER, 'paper', '') as object), ...more });
  store.database.transact(() =>
    append(store.desk, { type: 'record', at: now(), paper: PAPER, kind: 'paper', name: '', body }),
  );
}

test('every page has the contact and the imprint in its footer', { skip: ONLY_WIDE }, async (t) => {
  const { app, tree } = await paperOf(t, 1);
  const footers = async () => {
    await pressPapers(app, { cards: false });
    return PAGES.map((path) => /<footer[\s\S]*<\/footer>/.exec(readFileSync(join(tree, path), 'utf8'))?.[0] ?? '');
  };
  await change(app, { contact: 'desk@quay.example', imprint: 'Quay Press <Ltd>\nQuay Street 1' });
  for (const footer of await footers()) {
    assert.match(footer, /<a href="mailto:desk@quay\.example">desk@quay\.example<\/a>/);
    assert.match(footer, /Quay Press &lt;Ltd&gt;\s*<br>\s*Quay Street 1/);
  }
  await change(app, { contact: 'https://quay.example/write', imprint: 'pages/imprint.md' });
  for (const footer of await footers()) {
    assert.match(footer, /<a href="https:\/\/quay\.example\/write">Contact<\/a>/);
    assert.doesNotMatch(footer, /imprint\//, 'there is no such page yet');
  }
  assert.match(
    readFileSync(join(tree, '.well-known/security.txt'), 'utf8'),
    /^Contact: https:\/\/quay\.example\/write$/m,
  );
  const body = PageBody.parse({ title: 'Impressum', nav: 'none', language: 'de', prose: 'Quay Street 1.' });
  const page = { type: 'record', at: app.clock.now(), paper: PAPER, kind: 'page', name: 'imprint', body } as const;
  app.store.database.transact(() => append(app.store.desk, page));
  for (const footer of await footers())
    assert.match(footer, /<a href="\/harbor-ledger\/imprint\/" lang="de" dir="ltr">Impressum<\/a>/);
});

const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 90 30"><rect width="90" height="30" fill="#036"/></svg>';
const CSS = ':root { --accent: #036 }\n.plate { background: url("media/logo.svg") }\n';

/** Files a media file of the paper. */
async function file(app: AppContext, path: string, text: string): Promise<void> {
  const bytes = Buffer.from(text);
  const body = await inspectMedia(path, bytes);
  app.store.media.keepBytes(body.digest, bytes);
  const entry = { type: 'record', at: app.clock.now(), paper: PAPER, kind: 'media', name: path, body } as const;
  app.store.database.transact(() => append(app.store.desk, entry));
}

test('an analytics address has a host without signs of the policy', () => {
  const record = { nameplate: 'Quay', sections: ['News'] };
  const taken = (analytics: string) => PaperBody.safeParse({ ...record, analytics }).success;
  for (const host of ['a;sandbox', 'a,b.example', '*', '*.example', "a'b", 'a"b'])
    assert.equal(taken(`https://${host}/x.js`), false, host);
  for (const host of ['count.example', 'count.example:8443', '127.0.0.1', '[::1]', 'zählt.example'])
    assert.equal(taken(`https://${host}/x.js`), true, host);
  assert.equal(PaperBody.safeParse({ ...record, url: 'https://*.example' }).success, false);
});

test('an icon of any size is drawn, and one that no decoder can draw is replaced', { skip: ONLY_WIDE }, async (t) => {
  const { app, tree } = await paperOf(t, 1);
  const square = (side: number) =>
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${side} ${side}"><rect width="${side}" height="${side}" fill="#036"/></svg>`;
  for (const [icon, isDrawn] of [
    [square(4_000), true],
    [square(90_000), true],
    [square(4), true],
    ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100000 1"><rect width="1" height="1"/></svg>', false],
  ] as const) {
    await file(app, 'media/icon.svg', icon);
    await change(app, { icon: 'media/icon.svg' });
    await pressPapers(app, { cards: false });
    const { icons } = JSON.parse(readFileSync(join(tree, 'manifest.webmanifest'), 'utf8'));
    const drawn = sharp(join(tree, icons[0].src.replace('/harbor-ledger/', '')));
    const { dominant, isOpaque } = await drawn.stats();
    assert.equal(isOpaque && dominant.b > dominant.r, isDrawn, icon.slice(0, 80));
  }
});

test('a section whose name has more letters than signs has an address that disks take', async (t) => {
  const { app } = await paperOf(t, 1);
  const { sections } = app.store.desk.record(PAPER, 'paper', '') as { sections: string[] };
  await change(app, { sections: [...sections, '㎯'.repeat(60)] });
  await pressPapers(app, { cards: false });
});

test('logo, icon, stylesheet and analytics are on each page, and change with their files alone', async (t) => {
  const { app, tree, folder, clock } = await paperOf(t, 1);
  const read = (path: string) => readFileSync(join(tree, path), 'utf8');
  const iconsIn = () => readdirSync(join(tree, 'icons')).sort();
  const byHue = iconsIn();
  assert.equal(byHue.length, 4, 'an ICO, one for iOS, two of the manifest');
  assert.match(read('favicon.svg'), /^<svg/);
  for (const path of ['media/logo.svg', 'media/night.svg', 'media/icon.svg']) await file(app, path, SVG);
  await file(app, 'media/style.css', CSS);
  await change(app, {
    logo: { light: 'media/logo.svg', dark: 'media/night.svg' },
    icon: 'media/icon.svg',
    style: 'media/style.css',
    analytics: 'https://count.example:8443/js/script.js?site=quay',
    typefaces: 'lora',
  });
  await pressPapers(app, { cards: false });
  for (const path of PAGES) {
    const page = read(path);
    assert.match(page, /<source srcset="\/harbor-ledger\/media\/night\.svg" media="\(prefers-color-scheme: dark\)">/);
    assert.match(
      page,
      /<img[^>]* src="\/harbor-ledger\/media\/logo\.svg" alt="The Harbor Ledger" width="90" height="30">/,
    );
    assert.match(page, /type-lora\.[^"]+\.css/);
    assert.match(page, /hue\.css">\s*<link rel="stylesheet" href="\/harbor-ledger\/style\.css">/);
    const script = '<script async src="https://count.example:8443/js/script.js?site=quay"></script>';
    assert.equal(page.includes(script), path !== '404.html', `${path}: analytics`);
    for (const [, url = ''] of page.matchAll(
      /<link rel="(?:icon|apple-touch-icon|manifest)"[^>]* href="\/harbor-ledger\/([^"]+)"/g,
    ))
      assert.ok(existsSync(join(tree, url)), url);
  }
  assert.doesNotMatch(read('embed/piece-0/index.html'), /count\.example/);
  assert.equal(read('style.css'), CSS);
  assert.equal(read('favicon.svg'), SVG);
  assert.deepEqual(readFileSync(join(tree, 'favicon.ico')).subarray(0, 6), Buffer.from([0, 0, 1, 0, 1, 0]));
  assert.ok(!iconsIn().some((name) => byHue.includes(name)), 'drawn files are named by their content');
  const manifest = JSON.parse(read('manifest.webmanifest'));
  assert.equal(manifest.name, 'The Harbor Ledger');
  for (const { src, sizes } of manifest.icons) {
    const { width, height } = await sharp(join(tree, src.replace('/harbor-ledger/', ''))).metadata();
    assert.equal(`${width}x${height}`, sizes);
  }
  for (const rule of read('_headers').split('\n\n')) {
    const isPage = rule.includes("form-action 'self'");
    assert.equal(/count\.example/.test(rule), isPage, rule);
    const [policy = ''] = /Content-Security-Policy: .*/.exec(rule) ?? [];
    if (isPage)
      assert.match(
        policy,
        /script-src 'self' https:\/\/count\.example:8443; connect-src 'self' https:\/\/count\.example:8443; /,
      );
    assert.equal(policy.split('count.example').length - 1, isPage ? 2 : 0);
  }

  await file(app, 'media/style.css', 'a { color: red }\n');
  const [[, report] = []] = await pressPapers(app, { cards: false });
  assert.equal(read('style.css'), 'a { color: red }\n');
  assert.ok(report !== undefined && report.written < 6, `${report?.written} files for a changed stylesheet`);
  assertSameTree(treeOf(tree), await fullPress(t, folder, clock, false));

  await change(app, { logo: undefined, icon: undefined, style: undefined, analytics: undefined });
  await pressPapers(app, { cards: false });
  assert.ok(!existsSync(join(tree, 'style.css')));
  assert.deepEqual(iconsIn(), byHue);
  assert.doesNotMatch(read('_headers') + read('index.html'), /count\.example/);
});

test('of a stylesheet accepted by an earlier version, rules that hide the mark of an AI persona are not pressed', async (t) => {
  const { app, tree, folder, clock } = await paperOf(t, 1);
  const bytes = Buffer.from(':root { --accent: #036 }\n.byline > span { display: none }\n');
  // As that version filed it.
  const body = await inspectMedia('media/style.css', Buffer.from(CSS));
  const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  app.store.media.keepBytes(digest, bytes);
  const media = { ...body, digest, bytes: bytes.length };
  const entry = {
    type: 'record',
    at: app.clock.now(),
    paper: PAPER,
    kind: 'media',
    name: body.path,
    body: media,
  } as const;
  app.store.database.transact(() => append(app.store.desk, entry));
  await change(app, { style: body.path });
  await pressPapers(app, { cards: false });
  assert.equal(
    readFileSync(join(tree, 'style.css'), 'utf8'),
    '/* Left out at line 2: what a stylesheet may not set. File it again to see why. */\n:root { --accent: #036 }\n.byline > span { }\n',
  );
  assertSameTree(treeOf(tree), await fullPress(t, folder, clock, false));
});

test('a contact is a mail address or an https address', () => {
  const paper = { nameplate: 'The Quay', sections: ['City'] };
  for (const contact of ['nobody', 'http://quay.example/', 'javascript:alert(1)', 'ftp://quay.example/'])
    assert.match(PaperBody.safeParse({ ...paper, contact }).error?.issues[0]?.message ?? '', /must be a mail address/);
});
