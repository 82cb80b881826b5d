import assert from 'node:assert/strict';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { tempFolder } from '../support/app-context.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { openBrowser } from './chromium.ts';
import { type SharedStand, sharedStand } from './fixture.ts';

/** What the fonts of a page in Latin script may weigh, in bytes. */
const FONTS_MAX = 70_000;
/** Cumulative layout shift. */
const SHIFT_MAX = 0.02;

/** Fonts of other scripts, which only a page that has their letters may load. */
const OTHER_SCRIPTS: [file: RegExp, script: RegExp][] = [
  [/-cyrillic/, /\p{Script=Cyrillic}/u],
  [/-greek/, /\p{Script=Greek}/u],
  [
    /^(?:amiri|frank-ruhl-libre|noto-serif-devanagari|biz-udmincho|song-myung|noto-serif-sc)-/,
    /[\u0590-\u06ff\u0900-\u097f\u1100-\u9fff\uac00-\ud7af\uff00-\uffef]/,
  ],
  [/-(?:european|latin-ext|vietnamese)/, /[\u0100-\u024f\u1e00-\u1eff\u20a9-\u20bf]/],
];

const PAGES = ['/', '/stories/yard-and-pound-1959/', '/stories/metre-of-light/', '/sections/time/', '/standards/'];

let stand: SharedStand;
let browser: Browser;
before(async () => {
  stand = await sharedStand();
  browser = stand.browser;
});

for (const [screen, width] of Object.entries({ desktop: 1440, phone: 375 })) {
  for (const path of PAGES) {
    // On a push a large screen shows the front, and a small one a story with letters of other scripts.
    const skip = PAGES.indexOf(path) !== (screen === 'desktop' ? 0 : 1) && ONLY_WIDE;
    test(`the fonts of ${path} are light and move nothing, on a ${screen}`, { skip }, async () => {
      const page = await browser.newPage({ viewport: { width, height: 800 } });
      try {
        const { fonts, shift } = await loaded(page, `${stand.url}/the-plumb-line${path}`);
        const text = (await page.locator('body').textContent()) ?? '';
        const latin = fonts.filter(({ name }) => {
          const other = OTHER_SCRIPTS.find(([file]) => file.test(name));
          assert.ok(other === undefined || other[1].test(text), `${name} is loaded for no letter`);
          return other === undefined;
        });
        const bytes = latin.reduce((sum, { size }) => sum + size, 0);
        assert.ok(bytes > 0 && bytes < FONTS_MAX, `${bytes} bytes: ${latin.map(({ name }) => name).join(', ')}`);
        assert.ok(shift < SHIFT_MAX, `a layout shift of ${shift}`);
      } finally {
        await page.close();
      }
    });
  }
}

test('the newsstand shows a paper in Arabic on a machine with Latin letters alone', async (t) => {
  const folder = tempFolder(t);
  const config = join(folder, 'fonts.conf');
  // A browser without any font crashes.
  copyFileSync('node_modules/harfbuzzjs/test/fonts/noto/NotoSans-Regular.ttf', join(folder, 'latin.ttf'));
  writeFileSync(config, `<fontconfig><dir>${folder}</dir><cachedir>${folder}</cachedir></fontconfig>\n`);
  const bare = await openBrowser({ FONTCONFIG_FILE: config });
  t.after(() => bare.close());
  const page = await bare.newPage();
  const { fonts } = await loaded(page, `${stand.url}/`);
  const names = fonts.map(({ name }) => name);
  assert.ok(
    names.some((name) => name.startsWith('amiri-400-')),
    names.join(),
  );
  const sheets = await page
    .locator('link[rel="stylesheet"][href$="/fonts.css"]')
    .evaluateAll((all) => all.map((link) => link.getAttribute('href')));
  assert.ok(sheets.includes('/al-mizan/fonts.css') && !sheets.includes('/the-leading-light/fonts.css'), sheets.join());
});

/** Opens a page, and returns the fonts that were transferred, in bytes, and how far the layout moved. */
async function loaded(page: Page, url: string): Promise<{ fonts: { name: string; size: number }[]; shift: number }> {
  const measured: Promise<{ name: string; size: number }>[] = [];
  page.on('requestfinished', (request) => {
    const name = request.url().split('/').at(-1) ?? '';
    if (!name.endsWith('.woff2')) return;
    measured.push(request.sizes().then(({ responseBodySize }) => ({ name, size: responseBodySize })));
  });
  await page.goto(url, { waitUntil: 'networkidle' });
  const shift = await page.evaluate(async () => {
    await document.fonts.ready;
    return new Promise<number>((resolve) => {
      let sum = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) sum += (entry as unknown as { value: number }).value;
      }).observe({ type: 'layout-shift', buffered: true });
      setTimeout(() => resolve(sum), 100);
    });
  });
  return { fonts: await Promise.all(measured), shift };
}
