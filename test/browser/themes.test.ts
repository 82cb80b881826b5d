import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { DEFAULT_THEME, THEMES } from '../../src/desk/papers/themes.ts';
import { tempFolder } from '../support/app-context.ts';
import { copyPaper } from '../support/papers.ts';
import { copyDemo } from '../support/program.ts';
import { serveHere } from '../support/serve-here.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { openBrowser } from './chromium.ts';
import { PAGE_TYPES, type PaperAddresses } from './page-types.ts';
import { Complaints, faultsOf, opened, WEIGHT_MAX, walk, weighing } from './sound-page.ts';

/** The page types that the themes lay out, and on a push those alone that differ most. */
const OPENED = Object.entries(PAGE_TYPES).flatMap(([name, type]) =>
  type.of === 'paper' && !/withdrawn|subscribe-|preview|facts?$|sources/.test(name) ? [[name, type] as const] : [],
);
const ON_PUSH = /front|story|section|persona/;
const ON_PUSH_STORIES = ['arc-of-a-sidelight', 'red-on-the-wrong-side', 'help-me-in-french'];

const SCREENS: readonly BrowserContextOptions[] = [
  { viewport: { width: 1440, height: 900 }, colorScheme: 'light' },
  { viewport: { width: 768, height: 900 }, colorScheme: 'dark' },
  { viewport: { width: 375, height: 700 }, colorScheme: 'dark' },
];

const ADDRESSES: Omit<PaperAddresses, 'root'> = {
  ...{ story: ['stories/arc-of-a-sidelight/'], section: 'sections/lights/', day: 'days/2026-11-18/' },
  ...{ persona: 'masthead/merrin-tregarth/', cast: 'cast/2026-11-16/', own: 'about/' },
  ...{ fact: '', withdrawn: '', confirm: '', manage: '', preview: '' },
};

/** One in a language from right to left, so that each theme is seen in both directions in `.ci/wide`. */
const PAPERS = THEMES.filter((theme) => theme !== DEFAULT_THEME).flatMap((theme, index) =>
  ['en', 'ar'].flatMap((language, at) =>
    ONLY_WIDE === false || at === index % 2 ? [{ theme, language, slug: `${theme}-${language}` }] : [],
  ),
);

describe('a page is as sound in another theme', () => {
  const endings: (() => unknown)[] = [];
  let browser: Browser;
  let desk = '';
  before(async () => {
    browser = await openBrowser();
    const scope = { after: (end: () => unknown) => void endings.push(end) };
    const folder = tempFolder(scope);
    copyDemo(folder);
    for (const { slug, theme, language } of PAPERS) {
      copyPaper(
        folder,
        'the-leading-light',
        slug,
        (yaml) => yaml.replace('language: en', `language: ${language}\ntheme: ${theme}`),
        ONLY_WIDE === false ? undefined : ON_PUSH_STORIES,
      );
      const story = join(folder, 'content', slug, 'stories/arc-of-a-sidelight.md');
      writeFileSync(story, readFileSync(story, 'utf8').replace(/^---\n/, '---\ntags: [Length]\n'));
      const pages = join(folder, 'content', slug, 'pages');
      mkdirSync(pages, { recursive: true });
      writeFileSync(join(pages, 'about.md'), '---\ntitle: About\n---\n\nWhat it is, and who answers for it.\n');
    }
    copyPaper(folder, 'the-leading-light', 'nothing-yet', (yaml) => `${yaml}\ntheme: wire\n`, []);
    rmSync(join(folder, 'content/nothing-yet/cast'), { recursive: true });
    for (const slug of ['the-plumb-line', 'the-leading-light'])
      rmSync(join(folder, 'content', slug), { recursive: true });
    desk = (await serveHere(scope, folder)).url;
  });
  after(async () => {
    await browser?.close();
    for (const end of endings) await end();
  });

  for (const { slug, theme } of PAPERS)
    for (const screen of ONLY_WIDE === false ? SCREENS : SCREENS.slice(-1))
      it(`${slug} at ${screen.viewport?.width} pixels`, async () => {
        const page: Page = await browser.newPage({ ...screen, reducedMotion: 'reduce' });
        const complaints = new Complaints(page, [desk]);
        const weight = await weighing(page);
        for (const [name, type] of OPENED) {
          if (type.of !== 'paper' || (ONLY_WIDE !== false && !ON_PUSH.test(name))) continue;
          const paths = type.paths({ ...ADDRESSES, root: `/${slug}/` });
          for (const path of ONLY_WIDE === false ? paths : paths.slice(0, 1)) {
            const address = `${desk}/${slug}/${path}`;
            complaints.expected = type.status ?? 200;
            weight.taken();
            const response = await opened(page, address);
            assert.equal(response.status, complaints.expected, address);
            const bytes = weight.taken();
            assert.ok(bytes < WEIGHT_MAX, `${address} weighs ${bytes} bytes`);
            assert.ok((await page.content()).includes(`/theme-${theme}`) || type.isCard, address);
            assert.deepEqual(await faultsOf(response, address, { hasAxe: screen.colorScheme === 'dark' }), []);
            assert.deepEqual(complaints.taken(), [], address);
            if (type.isCard !== true) await walk(page, address);
          }
        }
        await page.close();
      });

  for (const { slug, theme } of PAPERS)
    it(`${slug} is read without script`, { skip: ONLY_WIDE }, async () => {
      const page = await browser.newPage({ viewport: { width: 390, height: 844 }, javaScriptEnabled: false });
      for (const [name, type] of OPENED) {
        if (type.of !== 'paper') continue;
        for (const path of type.paths({ ...ADDRESSES, root: `/${slug}/` })) {
          await page.goto(`${desk}/${slug}/${path}`, { waitUntil: 'load' });
          const text = await page.locator('body').innerText();
          // A card for another page's frame has little more than a headline and the word that AI made it.
          if (type.isCard) assert.match(text, /\bAI\b|اصطناعي/, `${name} of ${theme}`);
          assert.ok(text.length > (type.needsScript || type.isCard ? 20 : 60), `${name} of ${theme} says nothing`);
          const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          assert.ok(over <= 0, `${name} of ${theme} is ${over} pixels too wide`);
        }
      }
      await page.close();
    });

  it('a magazine’s first letter is large where letters do not join, and a wire’s signature is under a line', async () => {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    for (const { slug, theme } of PAPERS) {
      await page.goto(`${desk}/${slug}/${ADDRESSES.story[0]}`);
      const looks = await page.evaluate(() => {
        const of = (path: string, pseudo?: string) =>
          getComputedStyle(document.querySelector(path) ?? document.body, pseudo);
        const line = of('.signature').borderBlockStartWidth;
        const floats = ['en', 'ar'].map((language) => {
          document.querySelector('.prose')?.setAttribute('lang', language);
          return of('.prose > p', '::first-letter').float;
        });
        return { line, floats };
      });
      const floats = theme === 'magazine' ? ['inline-start', 'none'] : ['none', 'none'];
      assert.deepEqual(looks, { line: theme === 'magazine' ? '0px' : '2px', floats }, slug);
    }
    await page.close();
  });

  it('the name of a wire is of the size of its bar, and its headlines are large enough to touch', async () => {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await page.goto(`${desk}/${PAPERS.find(({ theme }) => theme === 'wire')?.slug}/`);
    const looks = await page.evaluate(() => {
      const size = (path: string) =>
        Number.parseFloat(getComputedStyle(document.querySelector(path) ?? document.body).fontSize);
      const links = [...document.querySelectorAll('.hours h3 a')];
      return {
        rem: size('h1') / size('html'),
        low: links.filter((link) => link.getBoundingClientRect().height < 24).length,
      };
    });
    assert.deepEqual(looks, { rem: 2, low: 0 });
    await page.close();
  });

  it('a paper with nothing on air shows what it will write about', async () => {
    const page = await browser.newPage({ viewport: { width: 375, height: 700 }, colorScheme: 'dark' });
    const response = await opened(page, `${desk}/nothing-yet/`);
    assert.deepEqual(await faultsOf(response, 'a paper with nothing on air'), []);
    assert.deepEqual(await page.locator('.to-come a').allInnerTexts(), ['Lights', 'Tides', 'Charts']);
    assert.equal(await page.locator('.to-come .shapes').count(), 3);
    await page.close();
  });

  it('headlines have room for the marks of their script, at the size of a cover too', async () => {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    for (const { slug } of PAPERS) {
      await page.goto(`${desk}/${slug}/`);
      const lines = await page.evaluate(() =>
        ['en', 'ar', 'fa', 'ur', 'hi', 'ja'].map((language) => {
          const [headline, dek] = ['.lead h2', '.lead .dek'].map((path) => {
            const element = document.querySelector(path) ?? document.body;
            element.setAttribute('lang', language);
            const { lineHeight, fontSize } = getComputedStyle(element);
            return Math.round((Number.parseFloat(lineHeight) / Number.parseFloat(fontSize)) * 100) / 100;
          });
          return `${language} ${(headline ?? 0) < 1.2 ? 'low' : headline} ${(dek ?? 0) < 1.6 ? 'low' : dek}`;
        }),
      );
      const room = ['en low low', 'ar 1.6 1.7', 'fa 1.6 1.7', 'ur 1.9 2', 'hi 1.4 low', 'ja 1.25 low'];
      assert.deepEqual(lines, room, slug);
    }
    await page.close();
  });
});
