import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import { loopback } from '../support/loopback.ts';
import { copyPaper } from '../support/papers.ts';
import { copyContent, until } from '../support/program.ts';
import { type ServingHere, serveHere } from '../support/serve-here.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { axeFaults } from './axe.ts';
import { openBrowser } from './chromium.ts';
import { pressVerify } from './verify-panel.ts';

/** Its prose has two links with cards, and a form between them. */
const STORY = 'stories/metre-of-light/';
/** Another piece of the same paper, without either in its prose. */
const PLAIN = 'stories/nine-billion-beats/';

const PAGE = `<title>The speed of light, and why nobody measures it any more</title>
  <meta property="og:site_name" content="Bureau of measures"><meta property="og:image" content="/light.png">
  <meta property="og:description" content="Since 1983 the number is exact, and what is measured is the metre. How that came about, in four lives of a bar, a colour and a second.">`;

describe('cards of links and the subscribe form in a piece', () => {
  const ends: (() => unknown)[] = [];
  let browser: Browser;
  let server: ServingHere;
  before(async () => {
    const t = { after: (end: () => unknown) => void ends.push(end) };
    const image = await sharp({ create: { width: 600, height: 315, channels: 3, background: '#246' } })
      .png()
      .toBuffer();
    const linked = await loopback(
      t,
      createServer((request, response) => {
        if (request.url?.endsWith('.png')) {
          response.end(image);
          return;
        }
        response.setHeader('content-type', 'text/html');
        response.end(PAGE);
      }),
    );
    const folder = mkdtempSync(join(tmpdir(), 'broadsheet-insets-'));
    ends.push(() => rmSync(folder, { recursive: true, force: true }));
    copyContent(folder);
    rmSync(join(folder, 'content/the-leading-light'), { recursive: true });
    const stories = join(folder, 'content/the-plumb-line/stories');
    for (const name of readdirSync(stories)) if (!/^(?:metre|nine)/.test(name)) rmSync(join(stories, name));
    const settings = 'link_cards: true\n';
    const yaml = join(folder, 'content/the-plumb-line/paper.yaml');
    writeFileSync(yaml, `${readFileSync(yaml, 'utf8')}\n${settings}`);
    const file = join(folder, 'content/the-plumb-line', `${STORY.slice(0, -1)}.md`);
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, `${text}\n\n${linked}/first?a=1&b=2\n\n::subscribe\n\n<${linked}/second>\n\n\\::subscribe\n`);
    if (ONLY_WIDE === false)
      copyPaper(folder, 'the-plumb-line', 'al-mizan', (paper) => paper.replace('language: en', 'language: ar'));
    browser = await openBrowser();
    ends.push(() => browser.close());
    server = await serveHere(t, folder, { SERVICES: 'desk', WEBHOOK_PRIVATE: 'allow' });
    for (const paper of ONLY_WIDE === false ? ['the-plumb-line', 'al-mizan'] : ['the-plumb-line']) {
      await until(async () => {
        const html = await (await fetch(`${server.url}/${paper}/${STORY}`)).text();
        return html.split('<div class="link-card"><aside>').length === 3 || null;
      });
    }
  });
  after(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  async function open(t: { after(end: () => unknown): void }, path: string, paper = 'the-plumb-line'): Promise<Page> {
    const page = await browser.newPage({ reducedMotion: 'reduce' });
    t.after(() => page.close());
    await page.goto(`${server.url}/${paper}/${path}`);
    return page;
  }

  it('lets a browser find the piece sound, and says what is not signed', async (t) => {
    const page = await open(t, STORY);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).origin));
    const { failed, text } = await pressVerify(page);
    assert.deepEqual(failed, []);
    assert.match(text, /only their addresses are signed/);
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
    assert.deepEqual([...new Set(asked)], [server.url], 'readers ask no other host');
  });

  for (const [what, alter] of [
    ['another address in a card', "document.querySelector('.link-card > a').textContent += 'x'"],
    ['a card of another page', "document.querySelector('.link-card > a').href = 'https://evil.example/'"],
    [
      'a card that is in no text',
      "document.querySelector('.prose').append(document.querySelector('.link-card').cloneNode(true))",
    ],
    [
      'a second form',
      "document.querySelector('.prose').append(document.querySelector('.subscribe-box').cloneNode(true))",
    ],
    [
      'an inset that is none',
      "document.querySelector('.prose').append(Object.assign(document.createElement('aside'), {textContent: 'More'}))",
    ],
  ] as const) {
    it(`finds ${what}`, {
      skip: what !== 'another address in a card' && what !== 'a second form' && ONLY_WIDE,
    }, async (t) => {
      const page = await open(t, STORY);
      await page.evaluate(alter);
      assert.deepEqual((await pressVerify(page)).failed, ['This page shows that text']);
    });
  }

  it('takes a subscription in the piece, with its script and without', { skip: ONLY_WIDE }, async (t) => {
    const page = await open(t, STORY);
    const box = page.locator('.prose .subscribe-box');
    await box.getByLabel('E-mail address').fill('nobody');
    await page.evaluate(() => document.querySelector('form')?.setAttribute('novalidate', ''));
    await box.getByRole('button').click();
    await box.locator('.problem:not(:empty)').waitFor();
    await box.getByLabel('E-mail address').fill('reader@example.org');
    await box.getByRole('button').click();
    await box.getByText('A message with a link to confirm').waitFor();

    const plain = await browser.newContext({ javaScriptEnabled: false });
    t.after(() => plain.close());
    const still = await plain.newPage();
    await still.goto(`${server.url}/the-plumb-line/${STORY}`);
    await still.getByLabel('E-mail address').fill('other@example.org');
    await still.locator('.subscribe-box button').click();
    await still.getByRole('heading', { name: 'Check your e-mail' }).waitFor();
    await still.goto(`${server.url}/the-plumb-line/${STORY}`);
    await still.getByLabel('E-mail address').fill('a@b');
    await still.locator('.subscribe-box button').click();
    // The whole form, as it is before a reader changes it.
    await still.locator('.problem:not(:empty)').first().waitFor();
    assert.ok(await still.locator('[name="cadence"][value="daily"]').isChecked());
    assert.equal(await still.locator('[name="sections"]:not(:checked)').count(), 0);
  });

  it('shows the form once: where the prose asks for it, else at the end', async (t) => {
    const page = await open(t, STORY);
    assert.equal(await page.locator('.subscribe-box').count(), 1);
    assert.match((await page.locator('.prose > p').last().textContent()) ?? '', /^::subscribe$/);
    await page.emulateMedia({ media: 'print' });
    assert.equal(await page.locator('.subscribe-box').isVisible(), false);
    await page.emulateMedia({ media: 'screen' });
    await page.goto(`${server.url}/the-plumb-line/${PLAIN}`);
    assert.equal(await page.locator('.after > .subscribe-box').count(), 1);
    assert.deepEqual((await pressVerify(page)).failed, []);
    const [twin, feed] = await Promise.all(
      [`the-plumb-line/${STORY.slice(0, -1)}.md`, 'the-plumb-line/feed.json'].map(async (path) =>
        (await fetch(`${server.url}/${path}`)).text(),
      ),
    );
    assert.ok(twin?.includes('\n\\::subscribe') && !/^::subscribe/m.test(twin));
    assert.doesNotMatch(feed ?? '', /<form|link-card|<!--/);
  });

  it('shows it on the front, which takes a subscription without a script, and not in print', async (t) => {
    const plain = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 390, height: 800 } });
    t.after(() => plain.close());
    const page = await plain.newPage();
    await page.goto(`${server.url}/${ONLY_WIDE === false ? 'al-mizan' : 'the-plumb-line'}/`);
    const box = page.locator('.by-mail');
    assert.equal(await box.count(), 1);
    await page.emulateMedia({ media: 'print' });
    assert.equal(await box.isVisible(), false);
    await page.emulateMedia({ media: 'screen' });
    const sample = (await box.locator('.small a').getAttribute('href')) ?? '';
    assert.equal((await fetch(server.url + sample)).status, 200);
    await box.locator('input').fill('front@example.org');
    await box.locator('button').click();
    await page.waitForURL(/\/subscribers$/);
    assert.equal(await page.locator('h1').count(), 1);
  });

  for (const paper of ['the-plumb-line', 'al-mizan']) {
    it(`is for everyone in ${paper}`, { skip: paper === 'al-mizan' && ONLY_WIDE }, async (t) => {
      const page = await open(t, STORY, paper);
      for (const [width, colorScheme] of [
        [1440, 'light'],
        [360, 'dark'],
      ] as const) {
        await page.setViewportSize({ width, height: 800 });
        await page.emulateMedia({ colorScheme });
        assert.deepEqual(await axeFaults(page), []);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(overflow <= 0, `${overflow} px too wide at ${width}`);
        if (process.env.SHOTS) {
          for (const name of ['.link-card', '.subscribe-box']) {
            const one = page.locator(name).first();
            await one.scrollIntoViewIfNeeded();
          }
          await page.waitForTimeout(300);
          const clip = await page.evaluate(() => {
            const all = [...document.querySelectorAll('.link-card, .subscribe-box')].map((one) =>
              one.getBoundingClientRect(),
            );
            const top = Math.min(...all.map(({ top }) => top)) + scrollY - 160;
            return {
              x: 0,
              y: top,
              width: innerWidth,
              height: Math.max(...all.map(({ bottom }) => bottom)) + scrollY + 140 - top,
            };
          });
          await page.screenshot({ path: `${process.env.SHOTS}/${paper}-${width}.png`, fullPage: true, clip });
        }
      }
    });
  }
});
