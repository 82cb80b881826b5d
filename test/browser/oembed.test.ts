import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { Frame, Page } from 'playwright-core';
import type { OEmbed } from '../../src/desk/oembed.ts';
import { tempFolder } from '../support/app-context.ts';
import { ask } from '../support/http.ts';
import { until } from '../support/program.ts';
import { send } from '../support/send.ts';
import { serveHere } from '../support/serve-here.ts';
import { enterPapers } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { openBrowser } from './chromium.ts';
import { asWordPressShows, blog } from './wordpress.ts';

const PAPER = 'tide-table';
const SECRET = 'Ab3dE6gH9k';

/** A line of a headline: a reader's typefaces may break a text elsewhere than was reckoned. */
const LINE = 30;

interface Told {
  message: string;
  value: number | string;
  secret: string;
}

test('a blog shows a story’s card as WordPress does', async (t) => {
  const folder = tempFolder(t);
  const keys = await enterPapers(folder, [{ slug: PAPER }]);
  const { url } = await serveHere(t, folder);
  const browser = await openBrowser();
  const reader = await browser.newContext({ viewport: { width: 900, height: 900 } });
  let post = '';
  const host = blog(() => post);
  await once(host.listen(0, '127.0.0.1'), 'listening');
  const hostUrl = `http://127.0.0.1:${(host.address() as AddressInfo).port}/`;
  t.after(async () => {
    await browser.close();
    host.close();
  });

  const story = (slug: string) => `${url}/${PAPER}/stories/${slug}/`;
  const record = async (query: Record<string, string> = {}, slug = 'high-water') => {
    const { status, text } = await ask(url, `/${PAPER}/oembed?${new URLSearchParams({ url: story(slug), ...query })}`);
    assert.equal(status, 200, text);
    return JSON.parse(text) as OEmbed;
  };
  const visit = async (body: string): Promise<{ page: Page; card: Frame; told: () => Promise<Told[]> }> => {
    post = body;
    const page = await reader.newPage();
    await page.goto(hostUrl, { waitUntil: 'networkidle' });
    const card = page.frames()[1];
    assert.ok(card);
    return { page, card, told: () => page.evaluate('told') };
  };

  const cases = ['220', '319', '320', '511', '512', '640'].map((maxwidth) => [maxwidth, 'high-water'] as const);
  // The second piece has no picture of its own.
  for (const [maxwidth, slug] of [...cases, ['220', 'a-white-light'], ['640', 'a-white-light']] as const) {
    // On a push the widths at which its layout changes.
    const skip = (!['220', '512'].includes(maxwidth) || slug !== 'high-water') && ONLY_WIDE;
    await t.test(`the card of ${slug} has the reported height at ${maxwidth} pixels`, { skip }, async () => {
      const { html, width, height } = await record({ maxwidth }, slug);
      assert.equal(width, Number(maxwidth));
      const { page, card } = await visit(asWordPressShows(html, SECRET));
      const frame = page.locator('iframe');
      assert.equal(await frame.isVisible(), true);
      assert.equal(await page.locator('blockquote').isVisible(), false);
      const real = await card.evaluate(() => ({
        height: document.querySelector('.card')?.getBoundingClientRect().height ?? 0,
        overflow: document.documentElement.scrollWidth - innerWidth,
        picture: document.querySelector('.picture')?.getBoundingClientRect().height ?? 0,
      }));
      assert.equal(await frame.getAttribute('height'), String(Math.ceil(real.height)));
      assert.ok(Math.abs(real.height - height) <= LINE, `${height} was told, ${real.height} is true`);
      assert.equal(real.overflow, 0);
      assert.ok(real.picture > 100, 'the picture is shown');
      await page.close();
    });
  }

  await t.test('a video edition comes as its player, in the shape of the video', { skip: ONLY_WIDE }, async () => {
    const page_url = `${url}/${PAPER}/cast/2026-11-19/`;
    const { text } = await ask(url, `/${PAPER}/oembed?${new URLSearchParams({ url: page_url })}`);
    const { html, type, width, height } = JSON.parse(text) as OEmbed;
    assert.deepEqual([type, width, height], ['video', 640, 390]);
    const { page, card } = await visit(asWordPressShows(html, SECRET));
    const frame = page.locator('iframe');
    assert.equal(await frame.isVisible(), true);
    assert.equal(await page.locator('blockquote').isVisible(), false);
    assert.equal(await frame.getAttribute('height'), String(height));
    const player = await card.evaluate(async () => {
      const video = document.querySelector('video') as HTMLVideoElement;
      const poster = new Image();
      poster.src = video.poster;
      await poster.decode();
      const { width, height } = video.getBoundingClientRect();
      return {
        width,
        height,
        poster: poster.naturalWidth,
        overflow: document.documentElement.scrollHeight - innerHeight,
      };
    });
    assert.deepEqual([player.width, Math.round(player.height), player.overflow], [640, 360, 0]);
    assert.ok(player.poster > 0, 'the picture before the video may be loaded');
    const foot = page.frameLocator('iframe').locator('main > p a');
    await Promise.all([page.waitForURL(page_url), foot.click()]);
    await page.close();
  });

  await t.test('before the card reports its height, only the link is shown', { skip: ONLY_WIDE }, async () => {
    const { html } = await record();
    const { page, told } = await visit(asWordPressShows(html, SECRET, 'another1'));
    assert.equal((await told()).at(-1)?.secret, 'another1');
    assert.equal(await page.locator('iframe').isVisible(), false);
    const link = page.locator('blockquote a');
    assert.equal(await link.textContent(), 'What high water means');
    await link.click();
    assert.equal(page.url(), story('high-water'));
    await page.close();
  });

  await t.test('a click on the card leads the whole page to the story', async () => {
    const { html } = await record();
    for (const part of ONLY_WIDE === false ? ['h1 a', 'img', '.dek', '.byline a', '.kicker a'] : ['img']) {
      const { page } = await visit(asWordPressShows(html, SECRET));
      // By its place, as a reader clicks: the headline's link covers the others.
      const box = await page.frameLocator('iframe').locator(part).boundingBox();
      assert.ok(box, part);
      await Promise.all([
        page.waitForURL(story('high-water')),
        page.mouse.click(box.x + box.width / 2, box.y + box.height / 2),
      ]);
      await page.close();
    }
    const { page } = await visit(asWordPressShows(html, SECRET));
    const plate = page.frameLocator('iframe').locator('.plate a');
    await Promise.all([page.waitForURL(`${url}/${PAPER}/`), plate.click()]);
    await page.close();
  });

  await t.test('the link that it reports is on the story’s host', async () => {
    const { html } = await record();
    const { page, card, told } = await visit(asWordPressShows(html, SECRET));
    // Without a press of a button nothing in the frame is active, and WordPress does not follow.
    await card.evaluate(() => document.querySelector<HTMLElement>('h1 a')?.click());
    const link = await until(async () => (await told()).find(({ message }) => message === 'link') ?? null);
    assert.deepEqual(link, { message: 'link', value: story('high-water'), secret: SECRET });
    assert.equal(page.url(), hostUrl);
    await page.close();
  });

  await t.test('the height follows the width', { skip: ONLY_WIDE }, async () => {
    const { html } = await record();
    const { page, card } = await visit(asWordPressShows(html, SECRET));
    const heightAt = async (width: number) => {
      await page.locator('iframe').evaluate((frame: HTMLIFrameElement, to) => {
        frame.width = String(to);
      }, width);
      return until(async () => {
        const real = await card.evaluate(() => [
          innerWidth,
          Math.ceil(document.querySelector('.card')?.getBoundingClientRect().height ?? 0),
        ]);
        const told = Number(await page.locator('iframe').getAttribute('height'));
        return real[0] === width && real[1] === told ? told : null;
      });
    };
    const [narrow, wide, again] = [await heightAt(220), await heightAt(640), await heightAt(220)];
    assert.ok(wide > narrow + 100, `${narrow} and ${wide}`);
    assert.equal(again, narrow);
    await page.close();
  });

  await t.test(
    'in a frame that is too low it shows no picture and needs no more room',
    { skip: ONLY_WIDE },
    async () => {
      const { html, height, width } = await record({ maxheight: '239' });
      assert.ok(height < 239);
      const { page, card } = await visit(html.replace(/<blockquote>.*<\/blockquote>/s, ''));
      const shown = await card.evaluate(() => ({
        picture: document.querySelector('img')?.getBoundingClientRect().height,
        card: document.querySelector('.card')?.getBoundingClientRect().height ?? 0,
        size: [innerWidth, innerHeight],
      }));
      assert.equal(shown.picture, 0);
      assert.deepEqual(shown.size, [width, height]);
      assert.ok(shown.card <= height + LINE);
      await page.close();
    },
  );

  await t.test('in a frame of our own making a click leads there without messages', { skip: ONLY_WIDE }, async () => {
    const { html } = await record();
    const { page, told } = await visit(html);
    assert.deepEqual(await told(), []);
    const title = page.frameLocator('iframe').locator('h1 a');
    await Promise.all([page.waitForURL(story('high-water')), title.click()]);
    await page.close();
  });

  await t.test('a card that no page frames is silent, with a secret too', { skip: ONLY_WIDE }, async () => {
    const { html } = await record();
    const src = / src="([^"]*)"/.exec(html)?.[1] ?? '';
    const page = await browser.newPage();
    await page.addInitScript(() => {
      Object.assign(window, { told: [] });
      addEventListener('message', ({ data }) => (window as unknown as { told: unknown[] }).told.push(data));
    });
    await page.goto(`${src}#?secret=${SECRET}`, { waitUntil: 'networkidle' });
    await page.evaluate(`postMessage({ message: 'ready', secret: '${SECRET}' }, '*')`);
    await page.setViewportSize({ width: 300, height: 600 });
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 50)));
    assert.deepEqual(await page.evaluate('told'), [{ message: 'ready', secret: SECRET }]);
    await page.close();
  });

  await t.test('the card of a piece that is withdrawn becomes a notice where it is framed', async () => {
    const { html } = await record({}, 'low-water');
    const headers = { 'x-nrf-key': keys.get(PAPER)?.admin ?? '' };
    const path = `/${PAPER}/api/v1/stories/low-water/airing`;
    const { status } = await send(url, { method: 'DELETE', path, headers, body: { reason: 'Last year’s table.' } });
    assert.equal(status, 200);
    const { page } = await visit(asWordPressShows(html, SECRET));
    const notice = page.frameLocator('iframe').locator('.card');
    assert.equal(await notice.isVisible(), true);
    assert.match((await notice.textContent()) ?? '', /Withdrawn.*What low water means.*This piece was withdrawn/s);
    await Promise.all([page.waitForURL(story('low-water')), notice.locator('h1 a').click()]);
    await page.close();
  });
});
