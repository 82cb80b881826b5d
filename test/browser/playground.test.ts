import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { tempFolder } from '../support/app-context.ts';
import { freePort } from '../support/free-port.ts';
import { copyPaper } from '../support/papers.ts';
import { copyDemo, run } from '../support/program.ts';
import { serveHere } from '../support/serve-here.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { axeFaults } from './axe.ts';
import { openBrowser } from './chromium.ts';

const PAPER = 'the-plumb-line';

interface Watched {
  page: Page;
  /** Addresses that were asked of any other host. */
  foreign: string[];
  /** What the console said in warning, and what went wrong. */
  complaints: string[];
}

async function watched(browser: Browser, address: string): Promise<Watched> {
  const page = await browser.newPage();
  const foreign: string[] = [];
  const complaints: string[] = [];
  const { origin } = new URL(address);
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !/^(?:data|blob):/.test(url)) foreign.push(url);
  });
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(address);
  await page.locator('.opblock').first().waitFor();
  return { page, foreign, complaints };
}

/** Opens an operation, sends it as it stands, and reads the status that came back. */
async function tryOut(page: Page, operation: string): Promise<string> {
  const block = page.locator(`.opblock[id$="-${operation}"]`);
  await block.locator('.opblock-summary-control').click();
  await block.getByRole('button', { name: 'Try it out' }).click();
  await block.getByRole('button', { name: 'Execute' }).click();
  const status = block.locator('.live-responses-table tbody .response-col_status').last();
  return (await status.textContent()) ?? '';
}

type Operations = Record<string, Record<string, { operationId: string }>>;

/** What a document describes: what may be asked, and what is told to receivers. */
function operationIds({ paths, webhooks }: { paths: Operations; webhooks: Operations }): string[] {
  return [paths, webhooks]
    .flatMap(Object.values<Operations[string]>)
    .flatMap((item) => Object.values(item).map((one) => one.operationId));
}

test('the playground', async (t) => {
  const folder = tempFolder(t);
  const [port, elsewhere] = [await freePort(), 'plumb.localhost'];
  copyDemo(folder);
  // Its pages and cards take as long as everything else, and only `.ci/wide` opens it.
  if (ONLY_WIDE === false) copyPaper(folder, PAPER, 'elsewhere', (yaml) => `url: http://${elsewhere}:${port}\n${yaml}`);
  const isHidden = (yaml: string) => yaml.replace('paper_public: true', 'paper_public: false');
  copyPaper(folder, 'the-leading-light', 'hidden', isHidden, ['arc-of-a-sidelight']);
  const { url, records } = await serveHere(t, folder, { PORT: String(port) });
  const made = await run(t, folder, ['key', 'create', '--paper', PAPER, '--level', 'read', '--name', 'try', '--json']);
  const { key } = JSON.parse(made.stdout) as { key: string };
  const browser = await openBrowser();
  t.after(() => browser.close());

  for (const [where, root] of [
    ['under a path of the shared host', `${url}/${PAPER}`],
    ['on a paper’s own domain', `http://${elsewhere}:${port}`],
  ] as const) {
    await t.test(`${where} it lists every operation and asks its own host alone`, { skip: ONLY_WIDE }, async () => {
      const { page, foreign, complaints } = await watched(browser, `${root}/api/v1/playground`);
      const document = (await page.evaluate(async () => (await fetch('openapi.json')).json())) as {
        servers: { url: string }[];
        paths: Operations;
        webhooks: Operations;
      };
      assert.deepEqual(
        document.servers.map((server) => server.url),
        [root],
      );
      const wanted = operationIds(document);
      const ids = await page.locator('.opblock').evaluateAll((blocks) => blocks.map(({ id }) => id));
      const shown = ids.map((id) => id.replace(/^.*-/, ''));
      assert.deepEqual(shown.sort(), wanted.sort());

      assert.match(await tryOut(page, 'listSections'), /^200/);
      assert.match(await tryOut(page, 'readStory'), /^200/, 'the example is a piece of this very paper');

      await page.setViewportSize({ width: 390, height: 844 });
      const wide = await page.locator('html').evaluate((html) => html.scrollWidth);
      assert.ok(wide <= 390, `with answers open on a telephone the page is ${wide} wide`);

      assert.equal(await page.locator('.plate .name a').textContent(), 'The Plumb Line');
      for (const address of await page
        .locator('.plate a')
        .evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).href))) {
        assert.equal(await page.evaluate(async (to) => (await fetch(to)).status, address), 200, address);
      }
      assert.deepEqual(foreign, []);
      assert.deepEqual(complaints, []);
      await page.close();
    });
  }

  await t.test('a key opens its routes', { skip: ONLY_WIDE }, async () => {
    const { page, foreign, complaints } = await watched(browser, `${url}/${PAPER}/api/v1/playground`);
    await page.getByRole('button', { name: 'Authorize' }).first().click();
    await page.locator('#auth-bearer-value').fill(key);
    await page.locator('.auth-container:has(#auth-bearer-value) button[type=submit]').click();
    await page.locator('.btn-done').first().click();
    assert.match(await tryOut(page, 'listDrafts'), /^200/);
    assert.deepEqual([...foreign, ...complaints], []);
    await page.close();
  });

  await t.test('the domain records have one of their own', { skip: ONLY_WIDE }, async () => {
    const { page, foreign, complaints } = await watched(browser, `${records}/docs/playground`);
    const document = (await page.evaluate(async () => (await fetch('/v1/openapi.json')).json())) as {
      paths: Operations;
      webhooks: Operations;
    };
    const wanted = operationIds(document);
    const ids = await page.locator('.opblock').evaluateAll((blocks) => blocks.map(({ id }) => id));
    assert.deepEqual(ids.map((id) => id.replace(/^.*-/, '')).sort(), wanted.sort());
    assert.match(await tryOut(page, 'readHealth'), /^200/);
    assert.match(await tryOut(page, 'readDomain'), /^404/, 'nothing is under watch here');
    assert.deepEqual(foreign, []);
    // A browser says in its console that the second was a 404.
    assert.deepEqual(
      complaints.filter((said) => !said.includes('404')),
      [],
    );
    await page.close();
  });

  for (const [service, at, operation] of [
    ['a paper', `${url}/${PAPER}/api/v1/playground`, 'fileStory'],
    ['the domain records', `${records}/docs/playground`, 'readDomain'],
  ] as const) {
    await t.test(
      `that of ${service} is accessible with an answer and the dialog for keys open`,
      { skip: ONLY_WIDE },
      async () => {
        const { page } = await watched(browser, at);
        await page.emulateMedia({ reducedMotion: 'reduce' });
        await tryOut(page, operation);
        await page.locator('.models button').first().click();
        const authorize = page.getByRole('button', { name: 'Authorize' }).first();
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          // Of the page as it opens, pages.test.ts speaks.
          assert.deepEqual(await axeFaults(page, '.opblock.is-open'), [], colorScheme);
          assert.deepEqual(await axeFaults(page, '.models'), [], colorScheme);
          await authorize.press('Enter');
          assert.equal(await page.evaluate(() => document.activeElement?.closest('[role=dialog]') !== null), true);
          assert.deepEqual(await axeFaults(page, '.modal-ux'), [], `${colorScheme}, the dialog`);
          await page.keyboard.press('Escape');
          assert.equal(await page.locator('.modal-ux').count(), 0);
          assert.equal(await page.locator('.btn.authorize:focus').count(), 1);
        }
        await page.close();
      },
    );
  }

  await t.test('a private paper shows none, as a paper that is not there', async () => {
    const [hidden, nowhere] = await Promise.all(
      ['hidden', 'nowhere'].map(async (slug) => {
        const { status, headers, text } = await fetch(`${url}/${slug}/api/v1/playground`).then(async (answer) => ({
          status: answer.status,
          headers: [...answer.headers].filter(([name]) => !['date', 'x-request-id'].includes(name)),
          text: await answer.text(),
        }));
        return { status, headers, text };
      }),
    );
    assert.equal(hidden?.status, 404);
    assert.deepEqual(hidden, nowhere);
  });
});
