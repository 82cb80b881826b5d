import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { DEFAULT_THEME, THEMES } from '../../src/desk/papers/themes.ts';
import { tempFolder } from '../support/app-context.ts';
import { until } from '../support/program.ts';
import { serveHere } from '../support/serve-here.ts';
import { enterPapers } from '../support/small-papers.ts';
import { mp3 } from '../support/sounds.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { axeFaults } from './axe.ts';
import { openBrowser } from './chromium.ts';

const PAPER = 'the-tide';
const CHAPTERS = ['- { time: 0, title: "Good morning" }', '- { time: 0:30, title: "The late tide" }'];
const SAID =
  'WEBVTT\n\n00:00.000 --> 00:04.000\n<v Vera Holm>Good morning.\n\n00:45.000 --> 00:50.000\n<v Ibo Sand>Late.\n';

const ends: (() => unknown)[] = [];
const scope = { after: (end: () => unknown) => void ends.unshift(end) };
let browser: Browser;
let folder: string;
let url: string;

/** A paper in each theme, on a push in the usual one; the first has the usual one. All have the same edition, of the day of a piece. */
const PAPERS = THEMES.filter((theme) => ONLY_WIDE === false || theme === DEFAULT_THEME).map((theme, index) => ({
  slug: index === 0 ? PAPER : `${PAPER}-${theme}`,
  theme,
}));

before(async () => {
  browser = await openBrowser();
  folder = tempFolder(scope);
  await enterPapers(folder, PAPERS);
  for (const { slug, theme } of PAPERS) {
    const content = join(folder, 'content', slug);
    writeFileSync(join(content, 'media/cast/day.mp3'), mp3(60));
    writeFileSync(join(content, 'media/cast/day.vtt'), SAID);
    const files = 'audio: media/cast/day.mp3\ntranscript: media/cast/day.vtt\nposter: media/cast/2026-11-16.jpg\n';
    const record = `title: The watch, to hear\n${files}chapters:\n${CHAPTERS.map((line) => `  ${line}\n`).join('')}`;
    writeFileSync(join(content, 'cast/2026-11-19.yaml'), record);
    const yaml = join(content, 'paper.yaml');
    writeFileSync(yaml, JSON.stringify({ ...JSON.parse(readFileSync(yaml, 'utf8')), theme }));
  }
  url = (await serveHere(scope as never, folder)).url;
});
after(async () => {
  await browser?.close();
  for (const end of ends) await end();
});

for (const { slug, theme } of PAPERS) {
  test(`a piece of its day can be heard at the byline, and nothing is loaded before, in ${theme}`, async (t) => {
    const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 390, height: 800 } });
    t.after(() => context.close());
    const page = await context.newPage();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.goto(`${url}/${slug}/stories/a-white-light/`, { waitUntil: 'networkidle' });
    const button = page.locator('.signature .listen summary');
    assert.equal((await button.textContent())?.trim(), 'Listen: The watch, to hear 1:00');
    for (const width of [1440, 768, 390]) {
      await page.setViewportSize({ width, height: 800 });
      const { height = 0, x = -1 } = (await button.boundingBox()) ?? {};
      assert.ok(height >= 24 && x >= 0, `${height} px high at ${width}`);
    }
    assert.equal(await page.locator('audio').isVisible(), false);
    await button.click();
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 800 });
      const box = await page.locator('.signature').boundingBox();
      const player = await page.locator('audio').boundingBox();
      assert.ok(box && player && player.width > 100 && player.x + player.width <= box.x + box.width + 1, `at ${width}`);
    }
    const path = `/${slug}/media/cast/day.mp3`;
    assert.ok(!asked.includes(path), 'open, it is still not loaded');
    await page.locator('audio').evaluate((audio: HTMLAudioElement) => audio.play());
    assert.ok(asked.includes(path));
    const podcast = await (await fetch(`${url}/${slug}/podcast.xml`)).text();
    const { size } = statSync(join(folder, 'content', slug, 'media/cast/day.mp3'));
    assert.ok(podcast.includes(`<enclosure url="${url}${path}" length="${size}" type="audio/mpeg"`), podcast);
    assert.equal(await page.locator('audio source').getAttribute('src'), path);
    // A piece of another day has none.
    await page.goto(`${url}/${slug}/stories/low-water/`);
    assert.equal(await page.locator('.listen').count(), 0);
  });
}

test('an audio edition plays, and its chapters and its transcript lead into it', async () => {
  const day = `${url}/${PAPER}/cast/2026-11-19/`;
  const page = await browser.newPage({ viewport: { width: 390, height: 800 } });
  const errors: string[] = [];
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  const player = page.locator('audio');
  const heard = () => player.evaluate((audio: HTMLAudioElement) => ({ at: audio.currentTime, paused: audio.paused }));
  const playsFrom = (second: number) =>
    until(async () => {
      const { at, paused } = await heard();
      return !paused && at >= second && at < second + 10 ? at : null;
    });

  await page.goto(day);
  await page.locator('.chapters a').nth(1).click();
  await playsFrom(30);
  await page.locator('.chapters a[aria-current]', { hasText: '0:30' }).waitFor();
  await page.locator('.transcript p', { hasText: 'Late.' }).locator('a').click();
  await playsFrom(45);
  await page.locator('.chapters a').first().click();
  await playsFrom(0);
  await page.locator('.chapters a[aria-current]', { hasText: '0:00' }).waitFor();
  assert.equal(page.url(), day, 'a link moves the player and opens nothing');

  for (const path of ['', 'embed/']) {
    await page.goto(day + path);
    assert.deepEqual(await axeFaults(page), [], path);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(overflow <= 0, `${path} is ${overflow} px wider than the screen`);
  }
  await page.setViewportSize({ width: 640, height: 190 });
  const foot = await page.locator('.card > p').boundingBox();
  assert.ok(foot !== null && foot.y + foot.height <= 190, 'the player fits its frame');
  assert.deepEqual(errors, []);
});
