import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { ONLY_WIDE } from '../support/wide.ts';
import { axeFaultsAA } from './axe.ts';
import { type SharedStand, sharedStand } from './fixture.ts';

const STORY = '/the-plumb-line/stories/keepers-of-the-zones/';
/** The most that an ordinary story page may weigh, without its picture. */
const PAGE_MAX = 30_000;
/** The most that a page may weigh at a desk, with its fonts and the pictures that are loaded: a story, and a front. */
const STORY_MAX = 120_000;
const FRONT_MAX = 300_000;
/** The most that each of its scripts may weigh before a reader asks for a check. */
const SCRIPT_MAX = 3_000;

describe('a story page', () => {
  let stand: SharedStand;
  let browser: Browser;
  before(async () => {
    stand = await sharedStand();
    browser = stand.browser;
  });

  it('leads from a marker to its source and back without a script', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(stand.url + STORY);
    await page.locator('.prose .marker a').first().click();
    const [, n] = /#fact-(\d+)$/.exec(page.url()) ?? [];
    assert.ok(n, `the marker led to ${page.url()}`);
    await page.locator(`#fact-${n} .back`).first().click();
    assert.equal(new URL(page.url()).hash, `#ref-${n}`);
    await context.close();
  });

  it('gives every marker a source and every source a way back', async () => {
    const page = await browser.newPage();
    await page.goto(stand.url + STORY);
    const dangling = await page.evaluate(() =>
      [...document.querySelectorAll<HTMLAnchorElement>('.prose .marker a, .facts .back')]
        .map((link) => link.hash)
        .filter((hash) => document.getElementById(hash.slice(1)) === null),
    );
    assert.deepEqual(dangling, []);
    await page.close();
  });

  it('says at the byline that an AI persona wrote it', async () => {
    const page = await browser.newPage({ viewport: { width: 360, height: 640 } });
    await page.goto(stand.url + STORY);
    assert.ok(await page.locator('.signature').getByText('AI persona', { exact: true }).isVisible());
    await page.close();
  });

  it('is light, and its scripts are small files of the paper that leave the rest until they are asked', async () => {
    const html = await (await fetch(stand.url + STORY)).text();
    const scripts = html.match(/<script(?! type="application\/ld\+json")[^>]*>/g) ?? [];
    const own = /^<script type="module" src="(\/the-plumb-line\/_astro\/(?:share|subscribe|verify)\.[^"]+\.js)">$/;
    const sources = scripts.map((script) => own.exec(script)?.[1] ?? script);
    assert.equal(sources.length, 3, scripts.join());
    for (const src of sources) {
      const script = await (await fetch(stand.url + src)).arrayBuffer();
      assert.ok(script.byteLength < SCRIPT_MAX, `${src}: ${script.byteLength} bytes`);
    }
    assert.ok(Buffer.byteLength(html) < PAGE_MAX, `${Buffer.byteLength(html)} bytes`);
    const page = await browser.newPage();
    const loaded: string[] = [];
    page.on('request', (request) => loaded.push(new URL(request.url()).pathname));
    await page.goto(stand.url + STORY, { waitUntil: 'networkidle' });
    assert.deepEqual(loaded.filter((path) => /\.(js|json)$/.test(path)).sort(), sources.sort());
    await page.close();
  });

  it('weighs little, pictures and fonts included, and so does a front', { skip: ONLY_WIDE }, async () => {
    for (const [path, most] of [
      ['/the-plumb-line/stories/meridian-by-vote/', STORY_MAX],
      ['/the-plumb-line/', FRONT_MAX],
      ['/the-leading-light/', FRONT_MAX],
    ] as const) {
      const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
      const network = await page.context().newCDPSession(page);
      await network.send('Network.enable');
      let weight = 0;
      network.on('Network.loadingFinished', ({ encodedDataLength }) => {
        weight += encodedDataLength;
      });
      await page.goto(stand.url + path, { waitUntil: 'networkidle' });
      assert.ok(weight > 0 && weight < most, `${path} weighs ${weight} bytes`);
      await page.close();
    }
  });

  it('is copied as a link by a button, which nobody sees without a script', { skip: ONLY_WIDE }, async () => {
    const context = await browser.newContext();
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: stand.url });
    const page = await context.newPage();
    await page.goto(stand.url + STORY);
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.getByText('Link copied').waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), stand.url + STORY);
    await context.close();
    const still = await browser.newContext({ javaScriptEnabled: false });
    const plain = await still.newPage();
    await plain.goto(stand.url + STORY);
    assert.equal(await plain.locator('.tools').isVisible(), false);
    await still.close();
  });

  it('has statements of its sources beside the text, and fills the page with large art', async () => {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await page.goto(`${stand.url}/the-plumb-line/stories/meridian-by-vote/`);
    const { notes, statements, art, main } = await page.evaluate(() => {
      const shown = [...document.querySelectorAll<HTMLElement>('.marker[data-note]')];
      const box = (selector: string) => document.querySelector(selector)?.getBoundingClientRect().width ?? 0;
      return {
        notes: shown.map((marker) => `${getComputedStyle(marker, '::before').float} ${marker.dataset.note}`),
        statements: [...document.querySelectorAll('.facts > li')].map((fact) => fact.firstChild?.textContent?.trim()),
        art: box('.art img'),
        main: box('.story'),
      };
    });
    assert.ok(notes.length > 0);
    // A note is said once, at the first marker of its fact.
    assert.deepEqual(
      notes,
      statements.map((statement) => `inline-end ${statement}`),
    );
    assert.ok(art >= main - 1, `${art} of ${main} pixels`);
    await page.close();
  });

  it('keeps the names beside the text clear of it and of each other', async () => {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await page.goto(stand.url + STORY);
    const shown = await page.evaluate(() =>
      [...document.querySelectorAll('.marker')].map((marker) => getComputedStyle(marker, '::before').float),
    );
    assert.ok(shown.length > 0 && shown.every((float) => float === 'inline-end' || float === 'right'), shown.join());
    await page.close();
  });

  it('has targets of 24 pixels, as its front, its persona and its day do', { skip: ONLY_WIDE }, async () => {
    const page = await browser.newPage({ viewport: { width: 390, height: 844 }, reducedMotion: 'reduce' });
    for (const path of ['', 'stories/meridian-by-vote/', 'masthead/ines-calloway/', 'days/2026-11-20/']) {
      // Where links of one line come under one another.
      if (path.startsWith('stories')) await page.setViewportSize({ width: 320, height: 844 });
      await page.goto(`${stand.url}/the-plumb-line/${path}`, { waitUntil: 'load' });
      assert.deepEqual(await axeFaultsAA(page), [], path);
    }
    await page.close();
  });

  it('is led to from a front that the keyboard passes block by block', { skip: ONLY_WIDE }, async () => {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' });
    await page.goto(`${stand.url}/the-plumb-line/`);
    const ways = await page.locator('.skip.past').allTextContents();
    assert.ok(ways.length > 5, ways.join());
    assert.equal(new Set(ways).size, ways.length);
    await page.locator('.skip.past').first().focus();
    for (const [n, way] of ways.entries()) {
      const { text, isSeen } = await page.evaluate(() => {
        const here = document.activeElement as HTMLElement;
        const { width, height, top, bottom } = here.getBoundingClientRect();
        const isShown = getComputedStyle(here).clipPath === 'none' && bottom > 0 && top < innerHeight;
        return { text: here.textContent, isSeen: isShown && width >= 24 && height >= 24 };
      });
      assert.deepEqual([text, isSeen], [way, true], `block ${n}`);
      await page.keyboard.press('Enter');
    }
    await page.keyboard.press('Tab');
    const isAtTheFoot = await page.evaluate(() => document.activeElement?.closest('.colophon') !== null);
    assert.ok(isAtTheFoot, 'the last way leads to the foot');
    await page.close();
  });
});
