import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { fill } from '../../src/phrases/fill.ts';
import { TABLES } from '../../src/phrases/tables.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { type SharedStand, sharedStand } from './fixture.ts';

const { ar } = TABLES;
const PAGES = [
  '',
  'sections/time/',
  'stories/metre-of-light/',
  'days/',
  'masthead/',
  'search/',
  'subscribe/',
  'corrections/',
];

describe('a paper in Arabic', () => {
  let stand: SharedStand;
  let browser: Browser;
  before(async () => {
    stand = await sharedStand();
    browser = stand.browser;
  });

  it('is laid out right to left, and no wider than the screen', async () => {
    for (const width of [390, 1440]) {
      const page = await browser.newPage({ viewport: { width, height: 900 } });
      // On a push a large screen shows the front alone.
      for (const path of width > 390 && ONLY_WIDE ? [''] : PAGES) {
        await page.goto(`${stand.url}/al-mizan/${path}`);
        const seen = await page.evaluate(() => {
          const [first, second] = [...document.querySelectorAll('.sections li')].map((item) =>
            item.getBoundingClientRect(),
          );
          return {
            language: document.documentElement.lang,
            direction: getComputedStyle(document.body).direction,
            overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
            isFirstAtTheRight: (first?.right ?? 0) > (second?.right ?? 0),
          };
        });
        const expected = { language: 'ar', direction: 'rtl', overflow: 0, isFirstAtTheRight: true };
        assert.deepEqual(seen, expected, `/${path} at ${width}`);
        assert.equal(await page.locator('.skip').first().textContent(), ar.page.skip);
      }
      await page.close();
    }
  });

  it('keeps a name in Latin letters in its place: it comes before its label, read from the right', async () => {
    // Where the byline stands beside the text, they stand below each other.
    const page = await browser.newPage({ viewport: { width: 1000, height: 800 } });
    await page.goto(`${stand.url}/al-mizan/stories/metre-of-light/`);
    const right = (selector: string): Promise<number> =>
      page
        .locator(selector)
        .first()
        .evaluate((element) => element.getBoundingClientRect().right);
    const [name, label, role] = [await right('.who > a'), await right('.who > .ai'), await right('.who > .role')];
    assert.ok(name > label && label > role, `${name} ${label} ${role}`);
    await page.close();
  });

  it('speaks Arabic in the browser too: search, and the check of a piece', async () => {
    const page = await browser.newPage();
    await page.goto(`${stand.url}/al-mizan/search/?q=zzzz`);
    await page.getByText(fill(ar.search.none, { words: 'zzzz' })).waitFor();
    await page.goto(`${stand.url}/al-mizan/stories/metre-of-light/`);
    await page.getByRole('button', { name: ar.proof.verify }).click();
    await page.getByRole('button', { name: ar.verify.again }).waitFor();
    const panel = page.locator('#verify');
    assert.ok((await panel.locator('[role="status"]').textContent())?.startsWith(ar.verify.held));
    const { hash, receipt, signature, chain, page: shown } = ar.verify;
    assert.deepEqual(
      await panel.locator('li > p:first-child').allTextContents(),
      [hash, receipt, signature, chain, shown].map((title) => `${ar.verify.holds} ${title}`),
    );
    await page.close();
  });
});
