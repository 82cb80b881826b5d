import assert from 'node:assert/strict';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { InvalidStyle, inspectCss, pressedCss } from '../../src/media/inspect-css.ts';
import { copyPaper } from '../support/papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { openBrowser } from './chromium.ts';
import { openStand, type Stand } from './fixture.ts';
import { ACCEPTED, AT_THE_MARK, REFUSED } from './hostile-styles.ts';
import { faultsOfMarks } from './marks.ts';

const NARROW = 390;
const WIDTHS = [320, NARROW, 768, 1280, 1920];
const LOOKS = [
  { media: 'screen', colorScheme: 'light' },
  { media: 'screen', colorScheme: 'dark' },
  { media: 'print', colorScheme: 'light' },
] as const;

/** The pages of each kind that has a byline, below the root of a paper; on a push those alone that differ most. */
const PAGES: Readonly<Record<string, readonly string[]>> = {
  '/the-plumb-line/': [
    '',
    'stories/metre-of-light/',
    'sections/time/',
    'sections/time/1/',
    'days/2026-11-19/',
    'masthead/',
    'masthead/mirela-quist/',
    'cast/',
    'cast/2026-11-19/',
    'cast/2026-11-19/embed/',
    'embed/metre-of-light/',
    'search/?q=metre',
  ],
  // Each other theme lays bylines out in its own way; both have a stylesheet of their own.
  '/magazine/': [
    '',
    'stories/arc-of-a-sidelight/',
    'sections/lights/',
    'days/2026-11-15/',
    'masthead/merrin-tregarth/',
  ],
  '/wire/': ['', 'stories/arc-of-a-sidelight/', 'sections/lights/', 'days/2026-11-15/', 'masthead/merrin-tregarth/'],
  '/migdalor/': ['', 'stories/arc-of-a-sidelight/', 'sections/lights/', 'embed/arc-of-a-sidelight/', 'masthead/'],
};
const ON_PUSH = /^$|^stories|^sections.*[a-z].$|^masthead\/.|^cast\/.*embed|^embed|^search/;
const FRAMES: readonly (readonly [width: number, height: number])[] = [
  [220, 60],
  [300, 200],
  [640, 162],
  ...(ONLY_WIDE === false
    ? ([
        [220, 158],
        [220, 230],
        [400, 120],
        [640, 60],
      ] as const)
    : []),
];
const CARDS = ['metre-of-light', ...(ONLY_WIDE === false ? ['addresses-for-nobody'] : [])];
const STORY = '/the-plumb-line/stories/metre-of-light/';
/** Those that a paper's stylesheet is tried on, in each theme; a push tries stories alone. */
const STYLED = ['/the-plumb-line/', '/magazine/', '/wire/']
  .flatMap((root) => (PAGES[root] ?? []).map((path) => root + path))
  .filter(
    (path) => !/cast|embed|search|\d\/$|masthead\/$/.test(path) && (ONLY_WIDE === false || path.includes('/stories/')),
  );

let stand: Stand;
let browser: Browser;
before(async () => {
  browser = await openBrowser();
  stand = await openStand((folder) => {
    // Hebrew: its label has Latin letters, which machines without fonts of its script draw as well.
    const inHebrew = (yaml: string) => yaml.replace('language: en', 'language: he');
    copyPaper(folder, 'the-leading-light', 'migdalor', inHebrew, ['arc-of-a-sidelight', 'red-on-the-wrong-side']);
    for (const theme of ['magazine', 'wire']) {
      const own = `theme: ${theme}\nstyle: media/own.css\n`;
      copyPaper(folder, 'the-leading-light', theme, (yaml) => own + yaml, [
        'arc-of-a-sidelight',
        'red-on-the-wrong-side',
      ]);
      writeFileSync(join(folder, 'content', theme, 'media/own.css'), ':root { --accent: #014f86 }\n');
    }
    writeFileSync(join(folder, 'content/the-plumb-line/media/own.css'), ':root { --accent: #014f86 }\n');
    appendFileSync(join(folder, 'content/the-plumb-line/paper.yaml'), '\nstyle: media/own.css\n');
  });
});
after(async () => {
  await browser?.close();
  await stand?.close();
});

test('every byline shows the mark of an AI persona, on every page, at every width, light, dark and on paper', async () => {
  const page = await browser.newPage({ deviceScaleFactor: 2 });
  for (const [root, pages] of Object.entries(PAGES)) {
    for (const [n, path] of pages.entries()) {
      // Of other themes the next test measures a story.
      const isOnPush = ON_PUSH.test(path) && !/magazine|wire/.test(root);
      if (ONLY_WIDE !== false && !isOnPush) continue;
      await page.goto(stand.url + root + path, { waitUntil: path.startsWith('search') ? 'networkidle' : 'load' });
      // On a push each page is measured at one width and in one look there, and a story in every look.
      for (const width of ONLY_WIDE === false ? WIDTHS : [NARROW]) {
        await page.setViewportSize({ width, height: 900 });
        const isEvery = ONLY_WIDE === false || n === 1;
        const atNarrow = isEvery ? LOOKS : LOOKS.slice(n % LOOKS.length).slice(0, 1);
        for (const look of width === NARROW ? atNarrow : LOOKS.slice(0, 1)) {
          await page.emulateMedia(look);
          assert.deepEqual(await faultsOfMarks(page), [], `${root}${path} at ${width}px, ${Object.values(look)}`);
        }
      }
    }
  }
  await page.close();
});

test('a card shows the mark in the lowest frames', async () => {
  const page = await browser.newPage({ deviceScaleFactor: 2 });
  for (const card of CARDS) {
    for (const [width, height] of FRAMES) {
      await page.setViewportSize({ width, height });
      await page.goto(`${stand.url}/the-plumb-line/embed/${card}/`);
      const bottom = await page.locator('.ai').evaluate((mark) => mark.getBoundingClientRect().bottom + scrollY);
      assert.ok(bottom <= height, `${card} in ${width} × ${height}: ${bottom}`);
      assert.deepEqual(await faultsOfMarks(page), [], `${card} in ${width} × ${height}`);
    }
  }
  await page.close();
});

test('a stylesheet that hides the mark is rejected, and pressed without the offending rules', () => {
  for (const css of REFUSED) {
    assert.throws(() => inspectCss(css), InvalidStyle, css);
    assert.doesNotThrow(() => inspectCss(pressedCss(css)), css);
  }
});

let styles = 0;

/** Puts a text in the place of the paper's stylesheet. */
async function style(page: Page, css: string): Promise<void> {
  const address = `style.css?${styles++}`;
  await page.route(
    (url) => url.href.endsWith(address),
    (route) => route.fulfill({ body: css, contentType: 'text/css' }),
  );
  const link = page.locator('link[href*="/style.css"]');
  await link.evaluate((element: HTMLLinkElement, name) => {
    const applied = new Promise((resolve) => element.addEventListener('load', resolve, { once: true }));
    element.href = element.href.replace(/style\.css.*$/, name);
    return applied;
  }, address);
}

test('no stylesheet that is pressed hides, shrinks, covers or recolours the mark', async () => {
  for (const path of STYLED) {
    const page = await browser.newPage({ deviceScaleFactor: 2 });
    await page.goto(stand.url + path, { waitUntil: 'load' });
    // What is left of those that are refused is little, and tried on one page; some of it, on a push.
    const left = REFUSED.filter((_, n) => ONLY_WIDE === false || n % 36 === 0).map(pressedCss);
    const all = [...ACCEPTED, ...AT_THE_MARK, ...(path === STORY ? left : [])];
    const isEvery = ONLY_WIDE === false || path === STORY;
    for (const css of isEvery ? all : all.filter((_, n) => n % 12 === (path.startsWith('/wire') ? 0 : 3))) {
      if (!AT_THE_MARK.includes(css)) inspectCss(css);
      await style(page, css);
      for (const width of path.endsWith('/the-plumb-line/') ? [1280, 360] : [1280]) {
        await page.setViewportSize({ width, height: 900 });
        assert.deepEqual(await faultsOfMarks(page), [], `${path} at ${width}px: ${css}`);
      }
    }
    await page.close();
  }
});

test('the measure sees a mark that is hidden, small, moved, covered or pale', async () => {
  const page = await browser.newPage({ deviceScaleFactor: 2 });
  await page.goto(`${stand.url}/the-plumb-line/stories/metre-of-light/`, { waitUntil: 'load' });
  for (const css of [
    '.who { display: none }',
    '.who { opacity: 0 }',
    '.who { filter: contrast(0.1) }',
    'main { transform: scale(0.3) }',
    '.who { position: absolute; left: -9999px }',
    '.signature { position: relative; z-index: 0 } .signature::after { content: ""; position: absolute; inset: 0; background: #fff; z-index: 1 } .who { position: relative; z-index: 0 }',
  ]) {
    await style(page, css);
    assert.notDeepEqual(await faultsOfMarks(page), [], css);
  }
  await page.close();
});
