import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { ONLY_WIDE } from '../support/wide.ts';
import { openBrowser } from './chromium.ts';
import { walkThrough } from './keyboard.ts';
import { NO_PAGES, PAGE_TYPES, type PageType, type PaperAddresses } from './page-types.ts';
import { openPagesStand, type PagesStand } from './pages-fixture.ts';
import { Complaints, faultsOf, opened, WEIGHT_MAX, walk, weighing } from './sound-page.ts';

/** How late fonts come that come late: after the 100 ms that a browser waits for them before it paints. */
const FONTS_LATE_MS = 250;
/** A folder for a picture of every page, for people who want to look; none by default. */
const SHOTS = process.env.PAGE_SHOTS;

/** The pages whose contrasts a push reckons; the others have the same parts, in the same colours. */
const CONTRASTS =
  /^(?:newsstand|paper\/(?:front|story|facts|subscribe)|records\/(?:landing|time-machine|analytics)|account\/(?:overview|keys))$/;

/** Account pages of which axe looks at these on a push: the others have the same head, tables and forms. */
const ACCOUNT = ['account/overview', 'account/keys', 'account/group', 'account/alerts'];

/** Pages that are one more form of a page that a push opens. */
const BESIDE = / signed in$|^playground of a paper$/;

interface Reader {
  who: string;
  screen: BrowserContextOptions;
  paper: 'leftToRight' | 'rightToLeft';
  /** Whether the fonts come after the first paint, as on a slow network. */
  hasLateFonts?: boolean;
  /** Which pages axe looks at too; by default all. Where it has seen a page in both schemes, it would find no more. */
  hasAxe?: (type: PageType) => boolean;
  /** Whether this reader goes through each page with the Tab key, from its start to its end. */
  hasKeyboard?: boolean;
  /** The names of the pages that this reader opens on a push; by default all of those. */
  onPush?: readonly string[];
  /** Whether this reader comes in `.ci/wide` alone. */
  skip?: string | false;
  /** Which pages this reader opens. */
  opens: (type: PageType) => boolean;
}

/** The pages that a large screen opens on a push, in the light: one of each kind. */
const IN_LIGHT = ['paper/front', 'paper/story', 'records/landing', 'account/overview'];

const READERS: readonly Reader[] = [
  {
    who: 'at a desk',
    screen: { viewport: { width: 1440, height: 900 }, colorScheme: 'light' },
    paper: 'leftToRight',
    // The phone sees every page; on a push a large screen one of each kind.
    hasAxe: (type) => ONLY_WIDE === false || IN_LIGHT.some((name) => PAGE_TYPES[name] === type),
    onPush: IN_LIGHT,
    hasKeyboard: true,
    opens: () => true,
  },
  {
    who: 'on a phone at night',
    screen: { viewport: { width: 375, height: 700 }, colorScheme: 'dark' },
    paper: 'leftToRight',
    hasLateFonts: true,
    hasAxe: (type) =>
      ONLY_WIDE === false ||
      !(type.of === 'records' && type.isSignedIn) ||
      ACCOUNT.some((name) => PAGE_TYPES[name] === type),
    opens: () => true,
  },
  {
    who: 'of Arabic, at a desk at night',
    screen: { viewport: { width: 1280, height: 900 }, colorScheme: 'dark' },
    paper: 'rightToLeft',
    opens: ({ of }) => of === 'paper',
    onPush: ['paper/front', 'paper/story'],
    hasKeyboard: ONLY_WIDE === false,
    hasAxe: () => ONLY_WIDE === false,
  },
  {
    who: 'of Arabic, on a phone',
    screen: { viewport: { width: 375, height: 700 }, colorScheme: 'light' },
    paper: 'rightToLeft',
    hasAxe: () => false,
    skip: ONLY_WIDE,
    opens: ({ of }) => of === 'paper',
  },
  {
    who: 'without script',
    screen: { viewport: { width: 1280, height: 900 }, javaScriptEnabled: false },
    paper: 'leftToRight',
    skip: ONLY_WIDE,
    opens: () => true,
  },
];

it('the table has every page, and no other', () => {
  const folder = fileURLToPath(new URL('../../src/pages', import.meta.url));
  const files = globSync('**/*.astro', { cwd: folder }).map((file) => file.replace(/\.astro$/, ''));
  const listed = Object.keys(PAGE_TYPES).filter((name) => !name.includes(' '));
  // console-pages.test.ts has a table of its own.
  const ours = files.filter((name) => !name.startsWith('console/'));
  assert.deepEqual([...listed, ...NO_PAGES].sort(), ours.sort());
});

describe('every page', { concurrency: 2 }, () => {
  const endings: (() => unknown)[] = [];
  let stand: PagesStand;
  let browser: Browser;
  const fresh: string[] = [];
  before(async () => {
    browser = await openBrowser();
    stand = await openPagesStand({ after: (end) => void endings.push(end) }, async (records) => {
      for (const { who, screen } of READERS.slice(0, 2)) {
        const page = await browser.newPage({ ...screen, reducedMotion: 'reduce' });
        fresh.push(...(await faultsOf(await opened(page, `${records}/`), who)));
        await page.close();
      }
    });
  });
  after(async () => {
    await browser?.close();
    for (const end of endings) await end();
  });

  it('the front page of records that watch nothing yet is sound', () => {
    assert.deepEqual(fresh, []);
  });

  for (const reader of READERS) {
    const { who, screen, opens, onPush, hasLateFonts, skip = false } = reader;
    const hasScript = screen.javaScriptEnabled !== false;
    // Each reader goes from page to page in one window: a new one for each page would cost more than the page.
    describe(who, { concurrency: 1, skip }, () => {
      let page: Page;
      let complaints: Complaints;
      let weight: { taken(): number };
      before(async () => {
        page = await browser.newPage({ ...screen, reducedMotion: 'reduce' });
        complaints = new Complaints(page, [stand.desk, stand.records]);
        // Fonts that are not there yet move the text: every page is measured as the first one.
        weight = await weighing(page);
        if (hasLateFonts)
          await page.route('**/*.woff2', async (route) => {
            // Pages preload the room of letters, which weighs next to nothing.
            if (!route.request().url().includes('/fonts/room-')) await sleep(FONTS_LATE_MS);
            await route.continue();
          });
      });

      const isOpened = (name: string) => ONLY_WIDE === false || (onPush?.includes(name) ?? !BESIDE.test(name));
      for (const [name, type] of Object.entries(PAGE_TYPES).filter(([key, one]) => opens(one) && isOpened(key))) {
        it(`${name} is sound`, async () => {
          complaints.taken();
          await signIn(page, type);
          const addresses = addressesOf(type, stand.papers[reader.paper]);
          // On a push one address of each type is enough.
          if (ONLY_WIDE !== false) addresses.splice(1);
          for (const address of addresses) {
            complaints.expected = type.status ?? 200;
            weight.taken();
            const response = await opened(page, address, hasScript);
            assert.equal(response.status, complaints.expected, address);
            const bytes = weight.taken();
            assert.ok(type.of !== 'paper' || bytes < WEIGHT_MAX, `${address} weighs ${bytes} bytes`);
            const axe = {
              hasAxe: reader.hasAxe?.(type) ?? true,
              hasContrast: ONLY_WIDE === false || CONTRASTS.test(name),
            };
            if (hasScript) assert.deepEqual(await faultsOf(response, address, axe), []);
            else assert.ok((await textOf(page)).length > (type.needsScript ? 20 : 60), `${address} says nothing`);
            // Only now: a picture of the whole page makes the window larger.
            if (SHOTS !== undefined) await shoot(page, `${name} ${who}`);
            assert.deepEqual(complaints.taken(), [], address);
            if (hasScript && type.isCard !== true) await walk(page, address);
            if (reader.hasKeyboard) await walkThrough(page, address);
          }
        });
      }
    });
  }

  function addressesOf(type: PageType, paper: PaperAddresses): string[] {
    switch (type.of) {
      case 'paper':
        return type.paths(paper).map((path) => stand.desk + paper.root + path);
      case 'desk':
        return type.paths().map((path) => stand.desk + path);
      case 'records':
        return type.paths(stand.addresses).map((path) => stand.records + path);
    }
  }

  async function signIn(page: Page, type: PageType): Promise<void> {
    await page.context().clearCookies();
    if (type.of !== 'records' || type.isSignedIn !== true) return;
    const [name = '', value = ''] = stand.cookie.split('=');
    await page.context().addCookies([{ name, value, url: stand.records }]);
  }
});

/** The text that is shown, which leaves out what is hidden. */
function textOf(page: Page): Promise<string> {
  return page.evaluate(() => {
    getSelection()?.selectAllChildren(document.querySelector('main') ?? document.body);
    return getSelection()?.toString() ?? '';
  });
}

async function shoot(page: Page, name: string): Promise<void> {
  const path = join(SHOTS ?? '', `${name.replaceAll('/', '-')}.png`);
  await page.screenshot({ path, fullPage: true }).catch((error: unknown) => console.error(String(error)));
}
