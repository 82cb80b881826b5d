import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { tempFolder } from '../support/app-context.ts';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/program.ts';
import { type ServingHere, serveHere } from '../support/serve-here.ts';
import { enterPapers } from '../support/small-papers.ts';
import { axeFaults } from './axe.ts';
import { openBrowser } from './chromium.ts';

const EMAIL = 'ada@example.org';
/** A folder for a picture of every page, for people who want to look; none by default. */
const SHOTS = process.env.PAGE_SHOTS;
const LOOKS = {
  light: { viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  dark: { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
  phone: { viewport: { width: 375, height: 700 }, colorScheme: 'dark' },
} as const;

/** The first seat of a paper, from the link in the log to a passkey: the real server and a real browser. */
describe('the door of a console', () => {
  const endings: (() => unknown)[] = [];
  const scope = { after: (work: () => unknown) => void endings.unshift(work) };
  let server: ServingHere;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let origin = '';
  let key = '';

  before(async () => {
    const folder = tempFolder(scope);
    await enterPapers(folder, [{ slug: 'tides' }]);
    browser = await openBrowser();
    const port = String(await freePort());
    origin = `http://localhost:${port}`;
    server = await serveHere(scope as never, folder, { SERVICES: 'desk', PORT: port, ORIGIN: origin });
    context = await browser.newContext();
    page = await context.newPage();
    page.setDefaultTimeout(10_000);
    // A device with a screen lock, whose owner always agrees.
    const devices = await context.newCDPSession(page);
    await devices.send('WebAuthn.enable');
    const options = {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
    } as const;
    await devices.send('WebAuthn.addVirtualAuthenticator', {
      options: { ...options, isUserVerified: true, automaticPresenceSimulation: true },
    });
  });
  after(async () => {
    await browser?.close();
    for (const end of endings) await end();
  });

  const console = (path = '') => `${origin}/tides/console/${path}`;
  const click = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const look = async (name: string): Promise<void> => {
    assert.deepEqual(await axeFaults(page), [], name);
    const fits = await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
    assert.ok(fits, name);
    if (SHOTS === undefined) return;
    for (const [type, { viewport, colorScheme }] of Object.entries(LOOKS)) {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: join(SHOTS, `${name}-${type}.png`), fullPage: true });
    }
    await page.setViewportSize(LOOKS.light.viewport);
    await page.emulateMedia({ colorScheme: 'light' });
  };

  it('the log of the first start has a link that takes the first seat', async () => {
    const line = /\{[^\n]*"msg":"nobody has a seat on this paper[^\n]*\}/.exec(server.said.log)?.[0] ?? '{}';
    const { paper, url } = JSON.parse(line);
    assert.equal(paper, 'tides');
    assert.ok(!/nrf_/.test(server.said.log));
    await page.goto(url);
    await look('first');
    await click('Take the seat');
    await page.getByText('The name is missing.').waitFor();
    await page.getByLabel('Your name').fill('Ada');
    await page.getByLabel('Your mail address').fill(EMAIL);
    await click('Take the seat');
    key = (await page.locator('.secret code').textContent()) ?? '';
    assert.match(key, /^nrf_\w{43}$/);
    await look('first-made');
    const [cookie] = await context.cookies();
    assert.deepEqual([cookie?.httpOnly, cookie?.sameSite, cookie?.path], [true, 'Strict', '/tides/']);
    assert.equal(await page.evaluate(() => document.cookie), '');
  });

  it('adds a passkey, signs out, and signs in with it, without a name', async () => {
    await click('Add a passkey on this device');
    await page.getByText('signs you in from now on').waitFor();
    await look('sessions');
    await click('Add a passkey');
    await page.getByText('This device has a passkey of your seat already.').waitFor();
    await click('Sign out');
    await page.waitForURL(console('sign-in'));
    await look('sign-in');
    await page.goto(console('pieces'));
    await click('Sign in with a passkey');
    await page.waitForURL(console('pieces'));
  });

  it('a link on another site opens the console for those who are signed in', async () => {
    await page.route('http://elsewhere.test/', (route) =>
      route.fulfill({ contentType: 'text/html', body: `<a href="${console('sessions')}">there</a>` }),
    );
    await page.goto('http://elsewhere.test/');
    await page.getByText('there').click();
    await page.waitForURL(console('sessions'));
    await page.getByText('this one').waitFor();
    await page.goto('http://elsewhere.test/');
    await context.clearCookies();
    await page.getByText('there').click();
    await page.waitForURL(/\/console\/sign-in\?to=/);
  });

  it('with a removed passkey nobody signs in', async () => {
    await page.getByLabel('Key of the paper').fill(key);
    await click('Sign in with the key');
    await page.waitForURL(console('sessions'));
    await page.getByRole('button', { name: /^Remove the passkey/ }).click();
    await page.getByText('is removed and signs nobody in any more').waitFor();
    await click('Sign out');
    await click('Sign in with a passkey');
    await page.getByText('belongs to no seat here').waitFor();
    await look('refused');
  });

  it('by mail, and with a key, without scripts', async () => {
    const plain = await browser.newContext({ javaScriptEnabled: false });
    const visitor = await plain.newPage();
    visitor.setDefaultTimeout(10_000);
    await visitor.goto(console('sessions'));
    assert.equal(await visitor.getByRole('button', { name: 'Sign in with a passkey' }).isVisible(), false);
    await visitor.getByLabel('Mail address of your seat').fill(EMAIL);
    await visitor.getByRole('button', { name: 'Send me a link' }).click();
    await visitor.getByText('a mail with a link is on its way').waitFor();
    const outbox = await until(async () => {
      const text = await (await fetch(`${origin}/newsstand/outbox/`)).text();
      return /<td><a href="([^"]+)"/.exec(text)?.[1] ?? null;
    });
    const mail = await (await fetch(new URL(outbox, `${origin}/newsstand/outbox/`))).text();
    const link = /http:[^"\s<]+\/console\/enter\?token=[\w-]+/.exec(mail)?.[0] ?? '';
    await visitor.goto(link);
    await visitor.getByRole('button', { name: 'Sign in' }).click();
    await visitor.waitForURL(console());
    await visitor.goto(console('sessions'));
    await visitor.getByText('by a mailed link').waitFor();
    await visitor.getByRole('button', { name: 'Sign out', exact: true }).first().click();
    await visitor.getByLabel('Key of the paper').fill(`${key.slice(0, -1)}_`);
    await visitor.getByRole('button', { name: 'Sign in with the key' }).click();
    await visitor.getByText('its checksum does not match').waitFor();
    await visitor.getByLabel('Key of the paper').fill(key);
    await visitor.getByRole('button', { name: 'Sign in with the key' }).click();
    await visitor.waitForURL(console());
    await plain.close();
  });
});
