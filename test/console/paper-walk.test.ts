import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { openBrowser } from '../browser/chromium.ts';
import { tempFolder } from '../support/app-context.ts';
import { type Seat, seatAt } from '../support/console-seat.ts';
import { serveHere } from '../support/serve-here.ts';
import { enterPapers } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const PAPER = 'tide-table';
const VIDEO = join(
  fileURLToPath(new URL('../../content/the-leading-light/media', import.meta.url)),
  'cast/2026-11-16.mp4',
);

const folder = tempFolder({ after });
const ending: (() => void | Promise<void>)[] = [];
let browser: Browser;
let seat: Seat;
let page: Page;

before(async () => {
  await enterPapers(folder, [{ slug: PAPER }]);
  browser = await openBrowser();
  const { url } = await serveHere({ after: (end) => void ending.push(end) }, folder, { CARDS: 'off' });
  seat = seatAt(url, folder, PAPER, 'admin');
  const context = await browser.newContext();
  await context.addCookies([{ ...seat.cookie, url: seat.root }]);
  page = await context.newPage();
});
after(async () => {
  await browser?.close();
  for (const end of ending) await end();
});

const leadIs = (headline: string) => page.locator('.slots li').first().getByRole('link', { name: headline }).waitFor();

test('a piece is dragged to the lead, moved down by keyboard and placed', async () => {
  await page.goto(`${seat.root}front`);
  const piece = page.locator('.choice li').filter({ hasText: 'What low water means' });
  await piece.dragTo(page.locator('.slots li').first());
  await leadIs('What low water means');
  await page.getByRole('button', { name: 'Move down: What low water means' }).focus();
  await page.keyboard.press('Enter');
  await page.locator('.slots li').nth(1).getByRole('link', { name: 'What low water means' }).waitFor();
  assert.match(await page.evaluate(() => document.activeElement?.id ?? ''), /^down-/, 'the focus stays on the button');
  await page.getByRole('button', { name: 'Lead: What high water means' }).click();
  await leadIs('What high water means');
  await page.getByRole('button', { name: 'Place', exact: true }).click();
  await page.getByText(/^Placed/).waitFor();
  const front = await (await fetch(new URL('../api/v1/front', seat.root))).json();
  assert.equal(front.placement.lead.slug, 'high-water');
  assert.deepEqual(
    front.placement.pins.map(({ slug, pin }: { slug: string; pin: number }) => [slug, pin]),
    [['low-water', 1]],
  );
});

test('a video is uploaded with progress, and a refused one leaves its form', { skip: ONLY_WIDE }, async () => {
  await page.goto(`${seat.root}media`);
  await page.getByText('Upload a file').click();
  await page.locator('#path').fill('media/cast/2026-11-16.jpg');
  await page.locator('#file').setInputFiles(VIDEO);
  await page.getByRole('button', { name: 'Upload' }).click();
  await page.locator('.notice.refused').waitFor();
  assert.equal(await page.locator('#file').evaluate((input: HTMLInputElement) => input.files?.length), 1);
  await page.locator('#path').fill('media/cast/day.mp4');
  await page.getByRole('button', { name: 'Upload' }).click();
  await page.getByText('media/cast/day.mp4 is uploaded').waitFor();
});
