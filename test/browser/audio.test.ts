import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tempFolder } from '../support/app-context.ts';
import { until } from '../support/program.ts';
import { serveHere } from '../support/serve-here.ts';
import { enterPapers } from '../support/small-papers.ts';
import { mp3 } from '../support/sounds.ts';
import { axeFaults } from './axe.ts';
import { openBrowser } from './chromium.ts';

const PAPER = 'the-tide';
const CHAPTERS = ['- { time: 0, title: "Good morning" }', '- { time: 0:30, title: "The late tide" }'];
const SAID =
  'WEBVTT\n\n00:00.000 --> 00:04.000\n<v Vera Holm>Good morning.\n\n00:45.000 --> 00:50.000\n<v Ibo Sand>Late.\n';

test('an audio edition plays, and its chapters and its transcript lead into it', async (t) => {
  const browser = await openBrowser();
  t.after(() => browser.close());
  const folder = tempFolder(t);
  await enterPapers(folder, [{ slug: PAPER }]);
  const content = join(folder, 'content', PAPER);
  writeFileSync(join(content, 'media/cast/day.mp3'), mp3(60));
  writeFileSync(join(content, 'media/cast/day.vtt'), SAID);
  const files = 'audio: media/cast/day.mp3\ntranscript: media/cast/day.vtt\nposter: media/cast/2026-11-16.jpg\n';
  const record = `title: The watch, to hear\n${files}chapters:\n${CHAPTERS.map((line) => `  ${line}\n`).join('')}`;
  writeFileSync(join(content, 'cast/2026-11-20.yaml'), record);
  const { url } = await serveHere(t, folder);
  const day = `${url}/${PAPER}/cast/2026-11-20/`;
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
