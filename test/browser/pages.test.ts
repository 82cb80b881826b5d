import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { axeFaults } from './axe.ts';
import { openBrowser } from './chromium.ts';
import type { Stand } from './stand.ts';
import { openStand } from './stand.ts';

const PAGES = [
  '/',
  '/log/',
  '/the-plumb-line/',
  '/the-leading-light/',
  '/the-plumb-line/stories/yard-and-pound-1959/',
  '/the-plumb-line/stories/reiwa-one-character/',
  '/the-plumb-line/stories/uk-tse-ukrainska/',
  '/the-plumb-line/sections/time/',
  '/the-plumb-line/sections/time/1/',
  '/the-plumb-line/days/',
  '/the-plumb-line/days/2026-11-19/',
  '/the-plumb-line/masthead/',
  '/the-plumb-line/masthead/mirela-quist/',
  '/the-plumb-line/cast/',
  '/the-plumb-line/cast/2026-11-19/',
  '/the-plumb-line/cast/2026-11-19/embed/',
  '/the-plumb-line/search/',
  '/the-plumb-line/subscribe/',
  '/the-plumb-line/corrections/',
  '/the-plumb-line/standards/',
  '/the-plumb-line/agents/',
  '/the-plumb-line/404.html',
  '/the-plumb-line/embed/metre-of-light/',
];

const READERS = [
  { who: 'at a desk', viewport: { width: 1440, height: 900 }, colorScheme: 'light' },
  { who: 'on a phone at night', viewport: { width: 375, height: 700 }, colorScheme: 'dark' },
] as const;

describe('every page', { concurrency: READERS.length }, () => {
  let stand: Stand;
  let browser: Browser;
  before(async () => {
    [stand, browser] = await Promise.all([openStand(), openBrowser()]);
  });
  after(async () => {
    await browser?.close();
    await stand?.close();
  });

  for (const { who, ...screen } of READERS) {
    // Each reader goes from page to page in one window: a new one for each page would cost more than the page.
    describe(who, { concurrency: 1 }, () => {
      let page: Page;
      let complaints: string[];
      before(async () => {
        page = await browser.newPage({ ...screen, reducedMotion: 'reduce' });
        complaints = listen(page, stand.url);
      });

      for (const path of PAGES) {
        it(`${path} is sound ${who}`, async () => {
          await page.goto(stand.url + path, { waitUntil: 'load' });
          assert.deepEqual(await axeFaults(page), []);
          assert.deepEqual(complaints.splice(0), []);
          const tooWide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          assert.ok(tooWide <= 0, `${tooWide}px wider than the screen`);
        });
      }
    });
  }
});

/** What a sound page never does: an error on the console, a request that fails or goes to another host. */
function listen(page: Page, host: string): string[] {
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`script: ${error.message}`));
  page.on('request', (request) => {
    if (!request.url().startsWith(`${host}/`)) complaints.push(`another host: ${request.url()}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()}: ${response.url()}`);
  });
  return complaints;
}
