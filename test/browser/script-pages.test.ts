import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { THEMES } from '../../src/desk/papers/themes.ts';
import { sfntOf, tablesOf } from '../../src/media/fonts/sfnt.ts';
import { tempFolder } from '../support/app-context.ts';
import { copyDemo } from '../support/program.ts';
import { SCRIPT_LANGUAGES, scriptPaper } from '../support/script-paper.ts';
import { serveHere } from '../support/serve-here.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { openBrowser } from './chromium.ts';
import { WEIGHT_MAX, weighing } from './sound-page.ts';

/** The most that a page may weigh with all that it loads, in bytes, and move while it does: the promise of every page. */
const MOST = { '': WEIGHT_MAX, 'stories/arc-of-a-sidelight/': 120_000 };
const SHIFT_MAX = 0.02;
/** How often a page is opened until it does not move: a browser waits 100 ms for the room of letters that join. */
const VISITS_MAX = 4;
/** How late fonts come: after the first paint. */
const FONTS_LATE_MS = 250;

/** On a push ideographs in one theme, and joined letters in another. */
const PAPERS = SCRIPT_LANGUAGES.flatMap((language) =>
  THEMES.flatMap((theme) =>
    ONLY_WIDE === false || ['ja broadsheet', 'ar wire'].includes(`${language} ${theme}`)
      ? [{ language, theme, slug: `${language}-${theme}` }]
      : [],
  ),
);

describe('on a machine without a font for its script, a page is as light, and as still', () => {
  const endings: (() => unknown)[] = [];
  let browser: Browser;
  let desk = '';
  before(async () => {
    const scope = { after: (end: () => unknown) => void endings.push(end) };
    const folder = tempFolder(scope);
    browser = await openBrowser({ FONTCONFIG_FILE: latinAlone(tempFolder(scope)) });
    copyDemo(folder);
    const only = ONLY_WIDE === false ? undefined : ['arc-of-a-sidelight', 'red-on-the-wrong-side', 'help-me-in-french'];
    for (const { slug, language, theme } of PAPERS) scriptPaper(folder, slug, language, theme, only);
    for (const slug of ['the-plumb-line', 'the-leading-light'])
      rmSync(join(folder, 'content', slug), { recursive: true });
    desk = (await serveHere(scope, folder)).url;
  });
  after(async () => {
    await browser?.close();
    for (const end of endings) await end();
  });

  for (const { slug, language } of PAPERS)
    for (const width of ONLY_WIDE === false ? [1440, 390] : [390])
      it(`${slug} at ${width} pixels`, async () => {
        for (const [path, most] of Object.entries(MOST)) {
          const where = `${slug}/${path}`;
          for (let visits = 1; ; visits++) {
            const { bytes, shift, moved, fonts } = await visit(`${desk}/${where}`, width);
            assert.ok(
              fonts.some((family) => !/script-room/.test(family)),
              `${where} has no font for ${language}`,
            );
            assert.ok(bytes < most, `${where} weighs ${bytes} bytes`);
            if (shift < SHIFT_MAX) break;
            const isLast = !(language === 'ar' || language === 'hi') || visits === VISITS_MAX;
            assert.ok(!isLast, `${where} moved by ${shift.toFixed(3)}: ${moved.join(' | ')}`);
          }
        }
      });

  async function visit(address: string, width: number) {
    const page = await browser.newPage({ viewport: { width, height: 900 } });
    const weight = await weighing(page);
    await page.route('**/*.woff2', async (route) => {
      if (!route.request().url().includes('/fonts/room-')) await sleep(FONTS_LATE_MS);
      await route.continue();
    });
    await page.goto(address, { waitUntil: 'networkidle' });
    const seen = await page.evaluate(async () => {
      await document.fonts.ready;
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)));
      const entries = await new Promise<{ value: number; sources: { node: Node | null }[] }[]>((done) => {
        const observer = new PerformanceObserver((list) => done(list.getEntries() as never));
        observer.observe({ type: 'layout-shift', buffered: true });
        setTimeout(() => done(observer.takeRecords() as never), 50);
      });
      return {
        shift: entries.reduce((sum, { value }) => sum + value, 0),
        moved: entries.flatMap(({ sources }) =>
          sources.map(({ node }) => (node as Element | null)?.outerHTML?.slice(0, 80)),
        ),
        fonts: [...document.fonts].flatMap(({ family, status }) => (status === 'loaded' ? [family] : [])),
      };
    });
    await page.close();
    return { ...seen, bytes: weight.taken() };
  }
});

/** A configuration of fontconfig with one font, for Latin: a browser draws nothing at all without any. */
function latinAlone(folder: string): string {
  const file = 'libre-franklin/files/libre-franklin-latin-400-normal.woff';
  const font = readFileSync(createRequire(import.meta.url).resolve(`@fontsource/${file}`));
  mkdirSync(join(folder, 'fonts'));
  writeFileSync(join(folder, 'fonts/latin.ttf'), sfntOf(tablesOf(font)));
  const path = join(folder, 'fonts.conf');
  const place = `<dir>${join(folder, 'fonts')}</dir><cachedir>${join(folder, 'cache')}</cachedir>`;
  writeFileSync(path, `<?xml version="1.0"?>\n<fontconfig>${place}</fontconfig>\n`);
  return path;
}
