import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { tempFolder } from '../support/app-context.ts';
import { type Seat, seatAt } from '../support/console-seat.ts';
import { serveHere } from '../support/serve-here.ts';
import { enterPapers } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { axeFaultsAA } from './axe.ts';
import { openBrowser } from './chromium.ts';
import { walkThrough } from './keyboard.ts';

const PAPER = 'tide-table';

/** Each page of the console by its file, with an address at which it can be seen; null where another test opens it. */
const PAGES: Readonly<Record<string, ((piece: string) => string) | null>> = {
  today: () => '',
  pieces: () => 'pieces',
  piece: (piece) => `pieces/${piece}`,
  facts: () => 'facts',
  fact: () => 'facts/sp811-another',
  changes: (piece) => `pieces/${piece}/changes`,
  write: (piece) => `pieces/${piece}/edit`,
  front: () => 'front',
  settings: () => 'settings',
  masthead: () => 'masthead',
  persona: () => 'masthead/vera-holm',
  sections: () => 'sections',
  pages: () => 'pages',
  media: () => 'media',
  cast: () => 'cast',
  edition: () => 'cast/2026-11-16',
  agents: () => 'agents',
  readers: () => 'readers',
  webhooks: () => 'webhooks',
  counts: () => 'counts',
  activity: () => 'activity',
  sessions: () => 'sessions',
  refused: () => 'pieces/no-such-piece',
  // test/console/paper-pages.test.ts
  'own-page': null,
  // test/browser/newsroom-day.test.ts
  reader: null,
  // test/browser/door.test.ts, test/console/sign-in.test.ts and those of OAuth
  'sign-in': null,
  enter: null,
  first: null,
  'first-made': null,
  authorize: null,
};

/** The pages whose contrasts a push reckons; the others have the same parts, in the same colours. */
const CONTRASTS = ['today', 'piece', 'write', 'settings', 'counts'];

/** Bytes of script that a page may load, uncompressed; the editor loads more. */
const SCRIPT_MAX = 60_000;
const EDITOR_MAX = 262_144;

const SCREENS: [who: string, screen: BrowserContextOptions, skip: string | false][] = [
  ['on a phone at night', { viewport: { width: 390, height: 844 }, colorScheme: 'dark' }, false],
  ['at a desk', { viewport: { width: 1440, height: 900 }, colorScheme: 'light' }, ONLY_WIDE],
];

describe('every page of the console', () => {
  const endings: (() => unknown)[] = [];
  const scope = { after: (work: () => unknown) => void endings.unshift(work) };
  let browser: Browser;
  let seat: Seat;
  let piece = '';

  before(async () => {
    const folder = tempFolder(scope);
    const keys = (await enterPapers(folder, [{ slug: PAPER }])).get(PAPER);
    browser = await openBrowser();
    const { url } = await serveHere(scope as never, folder, { CARDS: 'off' });
    seat = seatAt(url, folder, PAPER, 'admin');
    const response = await fetch(`${url}/${PAPER}/api/v1/drafts`, { headers: { 'x-nrf-key': keys?.read ?? '' } });
    piece = ((await response.json()) as { drafts: { id: string }[] }).drafts[0]?.id ?? assert.fail();
  });
  after(async () => {
    await browser?.close();
    for (const end of endings) await end();
  });

  it('is in the table', () => {
    const cwd = fileURLToPath(new URL('../../src/pages/console', import.meta.url));
    const files = globSync('*.astro', { cwd }).map((file) => file.replace(/\.astro$/, ''));
    assert.deepEqual(Object.keys(PAGES).sort(), files.sort());
  });

  for (const [who, screen, skip] of SCREENS) {
    it(`is sound ${who}`, { skip }, async (t) => {
      const context = await browser.newContext(screen);
      const { hostname } = new URL(seat.root);
      await context.addCookies([{ ...seat.cookie, domain: hostname, path: `/${PAPER}/`, sameSite: 'Strict' }]);
      const page = await context.newPage();
      for (const [name, pathOf] of Object.entries(PAGES)) {
        if (pathOf !== null) await t.test(name, () => isSound(page, name, pathOf(piece)));
      }
      await context.close();
    });
  }

  async function isSound(page: Page, name: string, path: string): Promise<void> {
    const errors: string[] = [];
    const scripts: Promise<Buffer>[] = [];
    page.removeAllListeners();
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('response', (response) => {
      if (response.request().resourceType() === 'script') scripts.push(response.body());
    });
    const response = await page.goto(seat.root + path);
    assert.equal(response?.status(), name === 'refused' ? 404 : 200);
    assert.deepEqual(await axeFaultsAA(page, ONLY_WIDE === false || CONTRASTS.includes(name)), []);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(over <= 0, `it is ${over} pixels wider than the window`);
    const script = Buffer.concat(await Promise.all(scripts)).length;
    assert.ok(script <= (name === 'write' ? EDITOR_MAX : SCRIPT_MAX), `${script} bytes of script`);
    assert.deepEqual(errors, []);
    // On a push, the keyboard's way through the first page alone.
    if (ONLY_WIDE === false || name === 'today') await walkThrough(page, path);
  }
});
