import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { type SharedStand, sharedStand } from './fixture.ts';

const CARD = '/the-plumb-line/embed/metre-of-light/';

interface Message {
  message: string;
  value: number | string;
  secret: string;
}

/** Frames the address in its query. A real server: Chromium lets no page without an address of its own reach a local one. */
const blog = createServer((request, response) => {
  const card = decodeURIComponent(request.url?.split('?')[1] ?? '');
  response.setHeader('Content-Type', 'text/html').end(
    `<link rel="icon" href="data:,"><script>addEventListener('message', (event) => keep(event.data))</script>
    <iframe sandbox="allow-scripts" width="300" height="200" src="${card}"></iframe>`,
  );
});

describe('the card', () => {
  let stand: SharedStand;
  let browser: Browser;
  let blogUrl: string;
  before(async () => {
    stand = await sharedStand();
    browser = stand.browser;
    await once(blog.listen(0, '127.0.0.1'), 'listening');
    blogUrl = `http://127.0.0.1:${(blog.address() as AddressInfo).port}/`;
  });
  after(() => blog.close());

  /** A page of another origin that frames the card as WordPress does. */
  async function frame(fragment: string): Promise<{ page: Page; messages: Message[] }> {
    const page = await browser.newPage();
    const messages: Message[] = [];
    await page.exposeFunction('keep', (message: Message) => messages.push(message));
    await page.goto(`${blogUrl}?${encodeURIComponent(stand.url + CARD + fragment)}`, { waitUntil: 'networkidle' });
    return { page, messages };
  }

  it('reports its height and the targets of clicks to the framing page', async () => {
    const { page, messages } = await frame('#?secret=s3cr3t');
    const height = messages.at(-1);
    assert.equal(height?.message, 'height');
    assert.equal(height?.secret, 's3cr3t');
    assert.ok(Number(height?.value) > 200, `height ${height?.value}`);
    await page.frames()[1]?.locator('h1 a').click();
    await page.waitForTimeout(100);
    assert.deepEqual(messages.at(-1), {
      message: 'link',
      value: `${stand.url}/the-plumb-line/stories/metre-of-light/`,
      secret: 's3cr3t',
    });
    assert.ok(page.url().startsWith(blogUrl), page.url());
    await page.close();
  });

  it('is silent without a secret', async () => {
    const { page, messages } = await frame('');
    assert.deepEqual(messages, []);
    await page.close();
  });

  it('links back to the paper when it is opened alone', async () => {
    const page = await browser.newPage();
    await page.goto(stand.url + CARD);
    const links = await page.locator('a').evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).href));
    assert.ok(links.length > 0 && links.every((href) => href.startsWith(`${stand.url}/the-plumb-line/`)), links.join());
    await page.locator('h1 a').click();
    assert.equal(page.url(), `${stand.url}/the-plumb-line/stories/metre-of-light/`);
    await page.close();
  });

  it('keeps nothing in the browser', async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(stand.url + CARD);
    assert.deepEqual(await context.cookies(), []);
    assert.equal(await page.evaluate(() => localStorage.length + sessionStorage.length), 0);
    await context.close();
  });
});
