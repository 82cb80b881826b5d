import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import { tempFolder } from '../support/app-context.ts';
import { serveHere } from '../support/serve-here.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { openBrowser } from './chromium.ts';

const SHAPES = { wide: [2000, 1125], small: [900, 600], tall: [800, 1200], square: [1000, 1000] } as const;

const PROSE = `One thing is so.[^1]

![A wide band of water](media/wide.jpg "The harbour from the north, at dusk")

Another is so as well.[^2]

![A small boat](media/small.jpg "A boat of the harbour")

Three pictures follow.

![A mast](media/tall.jpg "The mast") ![A boat](media/small.jpg) ![A buoy](media/square.jpg)

![A quay](media/small.jpg)

![A rope](media/tall.jpg "A rope, and nothing else")

And words end them.`;

const STORY = (language: string) => `---
headline: ${language === 'ar' ? 'صور الميناء' : 'Pictures of a harbour'}
dek: A piece with pictures.
byline: ines
category: News
language: ${language}
image: { src: media/wide.jpg, alt: A wide band of water }
cited_facts:
  - { statement: It is so., source: One, instrument: https://one.example/ }
  - { statement: It is., source: Two, instrument: https://two.example/ }
---

${PROSE}
`;

async function writeContent(folder: string): Promise<void> {
  const write = (path: string, bytes: string | Uint8Array) => {
    mkdirSync(dirname(join(folder, 'content', path)), { recursive: true });
    writeFileSync(join(folder, 'content', path), bytes);
  };
  // The second one is for screenshots alone.
  for (const [paper, language] of [['quay', 'en'], ...(process.env.SHOTS === undefined ? [] : [['mina', 'ar']])]) {
    write(`${paper}/paper.yaml`, `nameplate: The Quay\nsections: [News]\nlanguage: ${language}\n`);
    write(
      `${paper}/masthead/ines.yaml`,
      'name: Ines Calloway\ntitle: Editor\nbeat: The harbour\navatar: media/square.jpg\n',
    );
    write(`${paper}/stories/pictures.md`, STORY(language ?? 'en'));
    for (const [n, [name, [width, height]]] of Object.entries(SHAPES).entries()) {
      const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><linearGradient id="g" y2="1"><stop stop-color="hsl(${n * 70} 60% 80%)"/><stop offset="1" stop-color="hsl(${n * 70} 50% 30%)"/></linearGradient><path fill="url(#g)" d="M0 0h9999v9999H0z"/><circle cx="50%" cy="60%" r="20%" fill="#fff8"/></svg>`;
      const drawn = sharp(Buffer.from(svg));
      write(`${paper}/media/${name}.jpg`, await drawn.jpeg().toBuffer());
    }
  }
}

describe('pictures on a page', () => {
  let browser: Browser;
  let url: string;
  const ends: (() => unknown)[] = [];
  before(async () => {
    const scope = { after: (end: () => unknown) => void ends.push(end) };
    const folder = tempFolder(scope as never);
    await writeContent(folder);
    ({ url } = await serveHere(scope as never, folder, { SERVICES: 'desk' }));
    browser = await openBrowser();
    // Pictures that are not drawn yet are answered with the originals.
    const until = Date.now() + 30_000;
    const story = await (await fetch(`${url}/quay/stories/pictures/`)).text();
    for (const [path] of story.matchAll(/\/quay\/pictures\/[^ "]+/g)) {
      for (;;) {
        const response = await fetch(`${url}${path}`, { redirect: 'manual' });
        if (response.status === 200) break;
        assert.equal(response.status, 307);
        assert.match(response.headers.get('location') ?? '', /^\/quay\/media\//);
        assert.equal(response.headers.get('cache-control'), 'no-store');
        assert(Date.now() < until, `${path} is not drawn`);
        await new Promise((wait) => setTimeout(wait, 100));
      }
    }
  });
  after(async () => {
    await browser?.close();
    for (const end of ends.reverse()) await end();
  });

  async function open(width: number, path: string, more: object = {}): Promise<Page> {
    const page = await browser.newPage({ viewport: { width, height: 900 }, ...more });
    await page.goto(url + path, { waitUntil: 'networkidle' });
    return page;
  }
  const chosen = (page: Page, selector: string) =>
    page.locator(selector).evaluate((image) => (image as HTMLImageElement).currentSrc.replace(/.*-/, ''));

  it('takes the width that fits the screen, once, and in AVIF', { skip: ONLY_WIDE }, async () => {
    for (const [width, scale, art] of [
      [400, 1, '400.avif'],
      [400, 3, '1600.avif'],
      // Wide art has the width of the page.
      [1440, 1, '1600.avif'],
      [1440, 2, '1600.avif'],
    ] as const) {
      const page = await browser.newPage({ viewport: { width, height: 900 }, deviceScaleFactor: scale });
      const asked: string[] = [];
      page.on('request', (request) => asked.push(request.url()));
      await page.goto(`${url}/quay/stories/pictures/`, { waitUntil: 'networkidle' });
      assert.equal(await chosen(page, '.art img'), art, `${width} at ${scale}`);
      const id = await page
        .locator('.art img')
        .evaluate((image) => /([0-9a-f]{20})-/.exec((image as HTMLImageElement).currentSrc)?.[1] ?? '?');
      // What was preloaded is what is shown.
      assert.deepEqual(
        [...new Set(asked.filter((one) => one.includes(id)).map((one) => one.replace(/.*-/, '')))].slice(0, 1),
        [art],
      );
      assert.equal(asked.filter((one) => one.includes(`/media/`)).length, 0, 'no original is sent');
      await page.close();
    }
    const front = await open(1440, '/quay/');
    assert.equal(await chosen(front, '.lead img'), '800.avif');
    assert.equal(await chosen(front, '.desk-strip img'), '160.avif');
    await front.close();
  });

  it('shows figures and galleries within the page, in lines of equal height, without a shift', async () => {
    for (const width of ONLY_WIDE === false ? [320, 400, 800, 1440] : [320, 1440]) {
      const page = await browser.newPage({ viewport: { width, height: 900 } });
      await page.addInitScript(() => {
        const shifts: number[] = [];
        Object.assign(window, { shifts });
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) shifts.push((entry as unknown as { value: number }).value);
        }).observe({ type: 'layout-shift', buffered: true });
      });
      await page.goto(`${url}/quay/stories/pictures/`, { waitUntil: 'networkidle' });
      for (const image of await page.locator('.prose img').all()) await image.scrollIntoViewIfNeeded();
      await page.waitForLoadState('networkidle');
      const found = await page.evaluate(() => ({
        shift: (window as unknown as { shifts: number[] }).shifts.reduce((sum, one) => sum + one, 0),
        overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
        unloaded: [...document.querySelectorAll<HTMLImageElement>('.prose img')].filter((one) => one.naturalWidth === 0)
          .length,
        figures: document.querySelectorAll('.prose > figure').length,
        lines: [...document.querySelectorAll('.gallery > .line')].map((line) =>
          [...line.querySelectorAll('img')].map((one) => Math.round(one.getBoundingClientRect().height)),
        ),
      }));
      assert.deepEqual([found.overflow, found.unloaded, found.figures], [0, 0, 2], String(width));
      assert(found.shift < 0.02, `${width}: ${found.shift}`);
      for (const line of found.lines) {
        const [least, most] = [Math.min(...line), Math.max(...line)];
        assert(most - least <= 2, `${width}: ${line}`);
      }
      await page.close();
    }
  });

  it('saves screenshots for review', { skip: process.env.SHOTS === undefined }, async () => {
    for (const [name, path, width, colorScheme] of [
      ['light', '/quay/stories/pictures/', 1440, 'light'],
      ['dark', '/quay/stories/pictures/', 1440, 'dark'],
      ['phone', '/quay/stories/pictures/', 400, 'light'],
      ['rtl', '/mina/stories/pictures/', 1440, 'light'],
      ['front', '/quay/', 1440, 'light'],
    ] as const) {
      const page = await open(width, path, { colorScheme });
      for (const image of await page.locator('.prose img').all()) await image.scrollIntoViewIfNeeded();
      await page.waitForLoadState('networkidle');
      await page.screenshot({ path: join(process.env.SHOTS ?? '', `${name}.png`), fullPage: true });
      await page.close();
    }
  });
});
