import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Browser, Route } from 'playwright-core';
import { pageTextFaults } from '../../src/operate/audit/monitor/page-text.ts';
import type { Proof } from '../../src/proof/proof.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { axeFaults } from './axe.ts';
import { LONG, type SharedStand, sharedStand } from './fixture.ts';
import { pressVerify } from './verify-panel.ts';

const [ENGLISH, ARABIC] = LONG;
const SHOWN = 'This page shows that text';

describe('a long piece with contents, footnotes and code', () => {
  let stand: SharedStand;
  let browser: Browser;
  before(async () => {
    stand = await sharedStand();
    browser = stand.browser;
  });

  it('leads from a letter to its note and back, and from the contents to a heading, without a script', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(stand.url + ENGLISH);
    await page.getByLabel('Note b', { exact: true }).click();
    assert.equal(new URL(page.url()).hash, '#note-b');
    await page.getByLabel('Back to the text, note a 2').click();
    assert.equal(new URL(page.url()).hash, '#noteref-a-2');
    await page.getByRole('navigation', { name: 'Contents' }).getByText('The settings that it reads').click();
    assert.equal(new URL(page.url()).hash, '#h-the-settings-that-it-reads');
    await context.close();
  });

  it('is whole for everyone: every link has its place, folded on a phone, code from left to right', async () => {
    for (const [path, width, colorScheme] of [
      [ENGLISH, 390, 'light'],
      [ARABIC, 1440, 'dark'],
    ] as const) {
      const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
      await page.goto(stand.url + path);
      const seen = await page.evaluate(() => ({
        dangling: [...document.querySelectorAll<HTMLAnchorElement>('.prose .note a, .notes .back, .contents a')]
          .map((link) => decodeURIComponent(link.hash.slice(1)))
          .filter((id) => document.querySelectorAll(`[id="${CSS.escape(id)}"]`).length !== 1),
        unnamed: [...document.querySelectorAll('.note a, .notes .back')].filter((link) => !link.ariaLabel).length,
        label: document.querySelector('.contents summary')?.textContent,
        isOpen: document.querySelector('.contents ol')?.checkVisibility({ contentVisibilityAuto: true }),
        colours: new Set([...document.querySelectorAll('.prose pre span')].map((span) => getComputedStyle(span).color))
          .size,
        direction: getComputedStyle(document.querySelector('.prose pre') ?? document.body).direction,
        excess: document.documentElement.scrollWidth - innerWidth,
      }));
      const label = path === ENGLISH ? 'Contents' : 'المحتويات';
      assert.deepEqual(seen, {
        dangling: [],
        unnamed: 0,
        label,
        isOpen: width > 390,
        colours: 6,
        direction: 'ltr',
        excess: seen.excess,
      });
      assert.ok(seen.excess <= 0, `${seen.excess} px wider than the screen`);
      assert.deepEqual(await axeFaults(page, '.story'), []);
      await page.close();
    }
  });

  it('has its notes in print, without links back and contents', async () => {
    const page = await browser.newPage();
    await page.emulateMedia({ media: 'print' });
    await page.goto(stand.url + ENGLISH);
    assert.ok(await page.locator('.notes li').first().isVisible());
    for (const hidden of ['.notes .back', '.contents'])
      assert.ok(await page.locator(hidden).first().isHidden(), hidden);
    await page.close();
  });

  /** What a page may be made to say, and what the panel says of it. */
  const ALTERED: [what: string, RegExp, string, RegExp | null][] = [
    ['nothing', /^/, '', null],
    ['no contents', /<nav class="contents".*?<\/nav>/s, '', null],
    [
      'a word in a note',
      /(<li id="note-b"><p>The digits are )part/,
      '$1no part',
      /The text differs: .*“… digits are no part/,
    ],
    [
      'a note more',
      /(?=<\/ol>\s*<\/section>\s*<\/div>)/,
      '<li id="note-c"><p>Trust me.</p></li>',
      /The text differs: .*Trust me/,
    ],
    ['a mark that leads elsewhere', /href="#note-a"/, 'href="#note-b"', /The list of links in the text differs/],
    ['a word in code', /HERTZ = /, 'HURTZ = ', /The text differs/],
    [
      'a heading in the contents',
      />The settings that it reads<\/a>/,
      '>The settings that it hides</a>',
      /The table of contents/,
    ],
    ['contents that lead astray', /href="#h-the-settings-that-it-reads"/, 'href="#verify"', /The table of contents/],
    ['a text between the contents', /(?=<\/ol>\s*<\/details>)/, '<li>Trust me.</li>', /The table of contents/],
  ];

  it('verifies, and fails where a note, a heading in the contents or code is altered', async () => {
    const page = await browser.newPage();
    let alter = (html: string): string => html;
    await page.route(`**${ENGLISH}`, async (route: Route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: alter(await response.text()) });
    });
    // On a push the table's first case of each kind: sound, a note, the contents.
    const cases = ALTERED.filter((_, n) => ONLY_WIDE === false || [0, 2, 6].includes(n));
    for (const [what, pattern, put, said] of cases) {
      alter = (html) => {
        assert.match(html, pattern, what);
        return html.replace(pattern, put);
      };
      await page.goto(stand.url + ENGLISH);
      const { failed, text } = await pressVerify(page);
      assert.deepEqual(failed, said === null ? [] : [SHOWN], `${what}: ${text}`);
      if (said !== null) assert.match(text, said, what);
    }
    await page.close();
  });

  it('shows a monitor every word that was signed, also those of notes', async () => {
    const html = await (await fetch(stand.url + ENGLISH)).text();
    const { basis } = (await (await fetch(`${stand.url}${ENGLISH}proof.json`)).json()) as Proof;
    assert.deepEqual(pageTextFaults(html, basis), []);
    const altered = html.replace('The digits are part of the law', 'The digits are no part of the law');
    assert.deepEqual(pageTextFaults(altered, basis), ['the page does not show the text that was signed']);
  });

  it('has its notes in feeds and in Markdown, in forms that readers elsewhere know', async () => {
    const root = `${stand.url}/the-plumb-line`;
    const { items } = (await (await fetch(`${root}/feed.json`)).json()) as {
      items: { url: string; content_html: string }[];
    };
    const { content_html: html = '' } = items.find(({ url }) => url.endsWith(ENGLISH)) ?? {};
    assert.match(html, new RegExp(`<sup><a href="${stand.url}${ENGLISH}#note-a">a</a></sup>`));
    assert.match(
      html,
      /<section>\s*<ol type="a">\s*<li><p>A counter of this kind[\s\S]*so that a fault of one shows\.<\/p>\s*<\/li>/,
    );
    assert.doesNotMatch(html, /<nav|class=|id="|↑|hl-|<span/);
    const markdown = await (await fetch(`${root}/stories/nine-billion-beats.md`)).text();
    assert.match(markdown, /^\[\^rounding\]: The digits are part of the law\.\[\^1\]/m);
    assert.match(markdown, /^\[\^1\]: Resolution 1 of the 13th CGPM/m);
  });
});
