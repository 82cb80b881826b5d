import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { probe } from '../support/probes.ts';
import { type RecordsStand, recordsStand } from '../support/records-fixture.ts';
import { seededProbes } from '../support/seeded-records.ts';
import { openBrowser } from './chromium.ts';

const NOW = Date.UTC(2026, 10, 21, 9);
const DAY = 86_400_000;
const HOST = '/t/xn--bcher-kva.example';

describe('the public pages of the domain records', () => {
  const endings: (() => unknown)[] = [];
  let stand: RecordsStand;
  let browser: Browser;
  before(async () => {
    const scope = { after: (work: () => unknown) => void endings.push(work) };
    browser = await openBrowser();
    stand = await recordsStand(scope, {}, NOW - 13 * DAY);
    stand.enter(...seededProbes(NOW, 9));
    stand.clock.now = NOW;
  });
  after(async () => {
    await browser?.close();
    for (const end of endings) await end();
  });

  async function open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
    const page = await context.newPage();
    await page.goto(stand.url + path);
    return page;
  }

  /** Presses the button that verifies, and gives how it ended. */
  async function outcome(page: Page): Promise<string | null> {
    await page.locator('#verify').click();
    await page.getByRole('button', { name: 'Check again' }).waitFor();
    return page.locator('#verdict').getAttribute('data-state');
  }

  it('verifies the preview in the page', async () => {
    const page = await open(HOST);
    assert.equal(await outcome(page), 'held', (await page.locator('#verdict').textContent()) ?? '');
    await page.context().close();
  });

  it('fails when one character of the preview changes', async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    let change: [RegExp, string] = [/$/, ''];
    await page.route(`**${HOST}`, async (route) => {
      const answer = await route.fetch();
      const [start, preview = '', end] = (await answer.text()).split(/(?<=id="preview">)|(?=<\/script><button)/);
      const changed = preview.replace(...change);
      assert.notEqual(changed, preview, 'something was changed');
      await route.fulfill({ response: answer, body: `${start}${changed}${end}` });
    });
    for (const altered of [
      [/("nameservers":\[")n/, '$1m'],
      [/("seq":)1/, '$12'],
      [/(\\nobserved_at 202)6/, '$15'],
    ] as const) {
      change = [...altered];
      await page.goto(stand.url + HOST);
      assert.equal(await outcome(page), 'failed', String(altered[0]));
    }
    await context.close();
  });

  it('reads without scripts: the tape, the dates, the changes and the receipt', async () => {
    const page = await open('/', { javaScriptEnabled: false });
    assert.equal(await page.locator('#tape tr').count(), 50);
    await page.goto(stand.url + HOST);
    assert.match(String(await page.locator('pre.receipt').textContent()), /^domain-observation\/v1\n/);
    assert.equal(await page.locator('#verify').isVisible(), false, 'no button that would do nothing');
    await page.locator('input[name=as_of]').fill('2026-11-16');
    await page.getByRole('button', { name: 'Look back' }).click();
    assert.match(String(await page.locator('.notice').textContent()), /As it stood at 2026-11-16/);
    await page.getByRole('searchbox').fill('tide');
    await page.getByRole('button', { name: 'Search' }).click();
    assert.equal(new URL(page.url()).pathname + new URL(page.url()).search, '/search?q=tide');
    await page.context().close();
  });

  it('the tape updates while it is open', async () => {
    const page = await open('/');
    stand.enter(
      probe('late.example', NOW + 1, { A: ['192.0.2.1'] }),
      probe('late.example', NOW + 2, { A: ['192.0.2.99'] }),
    );
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await page.locator('#tape .new').waitFor();
    assert.match(
      String(await page.locator('#tape tr').first().textContent()),
      /late\.example A changed: 192\.0\.2\.1 → 192\.0\.2\.99/,
    );
    assert.equal(await page.locator('#tape tr').count(), 50);
    await page.context().close();
  });
});
