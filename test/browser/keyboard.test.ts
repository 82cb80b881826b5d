import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { openBrowser } from './chromium.ts';
import { walkThrough } from './keyboard.ts';

const LINKS = '<a href="#1">One</a> <a href="#2">Two</a>';

/** What is wrong with a page by keyboard, and what the walk says of it. */
const WRONG: readonly [what: string, body: string, says: RegExp][] = [
  [
    'a trap',
    `${LINKS}<button onkeydown="if (event.key === 'Tab') event.preventDefault()">Three</button><a href="#4">Four</a>`,
    /a trap/,
  ],
  ['no mark of the focus', `<style>a { outline: none }</style>${LINKS}`, /no focus ring: <a href="#1"/],
  [
    'an order that is not the eye’s',
    `<p style="display: flex; flex-direction: row-reverse">${LINKS}</p>`,
    /before the stop/,
  ],
  ['a stop above', `<p style="display: flex; flex-direction: column-reverse">${LINKS}</p>`, /above the stop/],
  [
    'a stop below something else',
    `${LINKS}<p style="position: fixed; inset: 0; margin: 0; background: #fff">A banner</p>`,
    /covered: <a href="#1"/,
  ],
  ['a stop that nobody sees', `${LINKS}<a href="#3" style="position: fixed; top: -9rem">Three</a>`, /out of sight/],
  [
    'a link that is left out',
    `${LINKS}<a href="#3" onfocus="this.blur(); document.querySelector('[href=\\'#4\\']').focus()">Three</a><a href="#4">Four</a><a href="#5">Five</a>`,
    /twice|never came/,
  ],
];

describe('the walk by keyboard', () => {
  let browser: Browser;
  before(async () => {
    browser = await openBrowser();
  });
  after(() => browser?.close());

  it('goes through a sound page, in both directions of writing', async () => {
    const page = await browser.newPage();
    const radios =
      '<label><input type="radio" name="r" checked> A</label> <label><input type="radio" name="r"> B</label>';
    for (const direction of ['ltr', 'rtl']) {
      await page.setContent(
        `<body dir="${direction}"><p style="display: flex; gap: 1em">${LINKS}</p><form>${radios}<input><button>Send</button></form><details><summary>More</summary>${LINKS}</details></body>`,
      );
      await walkThrough(page, direction);
    }
    await page.close();
  });

  for (const [what, body, says] of WRONG)
    it(`finds ${what}`, async () => {
      const page = await browser.newPage();
      await page.setContent(body);
      await assert.rejects(walkThrough(page, 'here'), (error: assert.AssertionError) => {
        assert.match(`${error.message} ${error.actual}`, says);
        return true;
      });
      await page.close();
    });
});
