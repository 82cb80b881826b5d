import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { contentType } from 'mime-types';
import type { Browser, Page } from 'playwright-core';
import { type PressedPaper, pressDemo } from '../site/demo.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { openBrowser } from './chromium.ts';

/** One of each paper. */
const STORIES = ['metre-of-light', 'arc-of-a-sidelight'];

/** The panel needs nothing but the files of the tree, wherever a host puts them. */
describe('the panel that verifies a piece, on static hosts', () => {
  const folder = mkdtempSync(join(tmpdir(), 'broadsheet-verify-'));
  let browser: Browser;
  before(async () => {
    browser = await openBrowser();
  });
  after(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A window in which a paper's files are the whole web. */
  async function openStory({ root, files }: PressedPaper): Promise<Page> {
    const page = await browser.newPage();
    await page.route('**/*', async (route) => {
      const address = route.request().url().replace(/\/$/, '/index.html');
      const body = address.startsWith(`${root}/`) ? files.get(address.slice(root.length + 1)) : undefined;
      const type = contentType(extname(address)) || 'application/octet-stream';
      await (body === undefined ? route.fulfill({ status: 404 }) : route.fulfill({ body, contentType: type }));
    });
    const story = [...files.keys()].find((path) => /^stories\/[^/]+\/index\.html$/.test(path)) ?? '';
    await page.goto(`${root}/${story.replace(/index\.html$/, '')}`);
    return page;
  }

  async function outcome(page: Page): Promise<string | null> {
    await page.locator('#verify button').click();
    await page.getByRole('button', { name: 'Check again' }).waitFor();
    return page.locator('#verify [role="status"]').textContent();
  }

  for (const [where, url] of [
    ['at the root of a domain', 'https://plumb.example'],
    ['under a path of a domain', 'https://press.example/papers/plumb'],
  ] as const) {
    // Under a path they are in verify.test.ts too, on the shared host.
    it(`works ${where}, and says why it cannot over plain http`, { skip: ONLY_WIDE }, async () => {
      const path = join(folder, encodeURIComponent(url));
      const papers = await pressDemo(path, 'http://stand.example', url, { cards: false, only: STORIES });
      const own = papers.find(({ root }) => root === url);
      const plain = papers.find(({ root }) => root.startsWith('http://stand.example/'));
      assert.ok(own && plain, papers.map(({ root }) => root).join());
      const secure = await openStory(own);
      assert.match((await outcome(secure)) ?? '', /^All checks hold/);
      await secure.close();
      const insecure = await openStory(plain);
      assert.match((await outcome(insecure)) ?? '', /^Nothing was checked: this page did not come over https/);
      assert.equal(await insecure.locator('#verify li').count(), 0);
      await insecure.close();
    });
  }
});
