import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { tempFolder } from '../support/app-context.ts';
import { copyDemo, until } from '../support/program.ts';
import { type ServingHere, serveHere } from '../support/serve-here.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { axeFaults } from './axe.ts';
import { openBrowser } from './chromium.ts';

/** A reader's way from the form to the end, in a real browser on the real server. */
describe('a subscription', () => {
  const endings: (() => unknown)[] = [];
  const scope = { after: (work: () => unknown) => void endings.push(work) };
  let folder: string;
  let server: ServingHere;
  let browser: Browser;
  before(async () => {
    folder = tempFolder(scope);
    copyDemo(folder);
    browser = await openBrowser();
    server = await serveHere(scope as never, folder);
  });
  after(async () => {
    await browser?.close();
    for (const end of endings.reverse()) await end();
  });

  /** The address that the newest mail to a reader leads to. */
  const mailedLink = (email: string): Promise<string> =>
    until(() => {
      const outbox = join(folder, 'var/outbox');
      let names: string[] = [];
      try {
        names = readdirSync(outbox).filter((name) => name.endsWith('.eml'));
      } catch {
        return null;
      }
      const mails = names.map((name) => readFileSync(join(outbox, name), 'utf8').replace(/=\n/g, ''));
      const mail = mails.find((text) => text.includes(`To: ${email}\n`));
      return /http\S+confirm\?token=3D\S+/.exec(mail ?? '')?.[0].replace('=3D', '=') ?? null;
    });

  /** Fails with what axe finds, and when the page is wider than the screen. */
  async function isSound(page: Page): Promise<void> {
    assert.deepEqual(await axeFaults(page), [], page.url().replace(/token=.*/, ''));
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0);
  }

  for (const { how, javaScriptEnabled, ...screen } of [
    { how: 'with a script', javaScriptEnabled: true, viewport: { width: 1280, height: 900 }, colorScheme: 'light' },
    {
      how: 'without one, on a phone at night',
      javaScriptEnabled: false,
      viewport: { width: 375, height: 700 },
      colorScheme: 'dark',
    },
  ] as const) {
    // With a script, reader-walk.test.ts goes the same way.
    it(`is ordered, confirmed, changed and ended ${how}`, { skip: javaScriptEnabled && ONLY_WIDE }, async () => {
      const email = javaScriptEnabled ? 'script@example.org' : 'plain@example.org';
      const context = await browser.newContext({ ...screen, javaScriptEnabled, reducedMotion: 'reduce' });
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
      page.on('requestfailed', (request) => {
        const why = request.failure()?.errorText ?? '';
        // A page that is left breaks off what it still loads.
        if (why !== 'net::ERR_ABORTED') complaints.push(`failed: ${request.url()} ${why}`);
      });
      // axe needs a script of its own: without scripts, only the reader's steps are walked.
      const look = () => (javaScriptEnabled ? isSound(page) : Promise.resolve());
      await page.goto(`${server.url}/the-plumb-line/subscribe/`);
      await page.fill('#email', email);
      await page.getByLabel('Weekly').check();
      await page.getByLabel('Proof').uncheck();
      await page.getByLabel('The video edition too').uncheck();
      await page.getByRole('button', { name: 'Subscribe' }).click();
      await page.getByText('A message with a link to confirm goes to this address').waitFor();
      await look();

      await page.goto(await mailedLink(email));
      await page
        .getByText(
          `to ${email}: one message a week, from Time, Measures, Letters, Networks, without the video edition.`,
        )
        .waitFor();
      await look();
      await page.getByRole('button', { name: 'Confirm' }).click();
      await page.getByRole('heading', { name: 'You are subscribed' }).waitFor();
      assert.doesNotMatch(page.url(), /token/);
      await look();

      await page.getByRole('link', { name: 'Change or end it' }).click();
      await page.getByRole('heading', { name: 'Your subscription' }).waitFor();
      assert.equal(await page.getByLabel('Weekly').isChecked(), true);
      assert.equal(await page.getByLabel('Proof').isChecked(), false);
      assert.equal(await page.getByLabel('The video edition too').isChecked(), false);
      await look();
      await page.getByLabel('At once').check();
      await page.getByLabel('Proof').check();
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Saved.').waitFor();
      assert.equal(await page.getByLabel('At once').isChecked(), true);
      assert.equal(await page.getByLabel('Proof').isChecked(), true);
      await look();
      await page.getByRole('button', { name: 'End the subscription' }).click();
      await page.getByRole('heading', { name: 'You are not subscribed' }).waitFor();
      await look();
      await page.goto((await mailedLink(email)).replace('confirm', 'unsubscribe'));
      await page.getByRole('heading', { name: 'This did not go through' }).waitFor();
      await look();
      await context.close();
      // The last page is answered 404, which the console tells.
      assert.deepEqual(
        complaints.filter((text) => !text.includes('404')),
        [],
      );
    });
  }
});
