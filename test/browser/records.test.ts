import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { probe } from '../support/probes.ts';
import { type RecordsStand, recordsStand } from '../support/records-fixture.ts';
import { seededProbes } from '../support/seeded-records.ts';
import { ONLY_WIDE } from '../support/wide.ts';
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

  it('shows the documentation’s samples in one language without a script, and asks for what a reader types', {
    skip: ONLY_WIDE,
  }, async () => {
    const plain = await open('/docs', { javaScriptEnabled: false });
    const [curl, python] = ['curl -H', 'urlopen(request)'].map((text) =>
      plain.getByText(text, { exact: false }).first(),
    );
    assert.deepEqual([await curl?.isVisible(), await python?.isVisible()], [true, false]);
    await plain.locator('label', { hasText: 'Python' }).first().click();
    assert.deepEqual([await curl?.isVisible(), await python?.isVisible()], [false, true]);
    assert.equal(await plain.locator('[data-try]').isVisible(), false);
    await plain.context().close();

    const page = await open('/docs');
    await page.getByRole('radio', { name: 'Go' }).first().focus();
    await page.keyboard.press('Space');
    assert.equal(await page.locator('.tabs input[value=Go]:checked').count(), 3, 'one language for all');
    assert.equal(await page.locator('.try .answer').isVisible(), false, 'before anything was asked');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('.try .line').waitFor();
    assert.match((await page.locator('.try .line').textContent()) ?? '', /^200 OK · \d+ ms · [\d,]+ bytes$/);
    assert.match((await page.locator('.try pre').textContent()) ?? '', /"preview": true/);
    await page.getByLabel('Your key').fill('drs_wrong');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('.try .line', { hasText: '401' }).waitFor();
    assert.match((await page.locator('.try pre').textContent()) ?? '', /key_invalid/);
    assert.ok(!page.url().includes('drs_wrong'), 'the key stays in the page');
    await page.getByLabel('GET').fill('/v1/../account');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('.try .problem', { hasText: 'is no path of this API' }).waitFor();
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
    assert.match(String(await page.locator('.notice').textContent()), /the state at the end of 2026-11-16/);
    await page.getByRole('searchbox').fill('tide');
    await page.getByRole('button', { name: 'Search' }).click();
    assert.equal(new URL(page.url()).pathname + new URL(page.url()).search, '/search?q=tide');
    await page.context().close();
  });

  it('the front page shows the receipt of a typed name and checks it, by keyboard alone', async () => {
    const page = await open('/');
    const loads: string[] = [];
    page.on('framenavigated', (frame) => loads.push(frame.url()));
    await page.locator('#name').fill('bücher.example');
    await page.locator('#name').press('Enter');
    await page.locator('#slip h2', { hasText: 'bücher.example' }).waitFor();
    assert.match(page.url(), /\/\?name=b%C3%BCcher\.example$/);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.locator('#verify').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Check again' }).waitFor();
    assert.equal(await page.locator('#verdict').getAttribute('data-state'), 'held');
    assert.match(String(await page.locator('#verdict').textContent()), /xn--bcher-kva\.example/);
    assert.equal(await page.locator('#verdict .tree').count(), 1);
    // Another name takes the verdict of the one before away; one that is not watched has nothing to check.
    await page.locator('#name').fill('nobody.example');
    await page.locator('#name').press('Enter');
    await page.locator('#slip', { hasText: 'nobody.example is not under watch' }).waitFor();
    assert.equal(await page.locator('#verdict').textContent(), '');
    assert.equal(await page.locator('#verify').isVisible(), false);
    assert.deepEqual(
      loads.filter((url) => !url.startsWith(`${stand.url}/?name=`)),
      [],
    );
    await page.context().close();
  });

  it('bands and their table lead to the same moments, with a pointer, by keyboard, without scripts', async () => {
    const page = await open(HOST, { javaScriptEnabled: false });
    const band = page.locator('.timeline svg a').nth(1);
    const address = String(await band.getAttribute('href'));
    await band.click();
    assert.equal(page.url(), stand.url + address);
    assert.match(String(await page.locator('.notice').first().textContent()), /You see the state at/);
    await page.goto(stand.url + HOST);
    await page.locator('.timeline summary').focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    const focused = page.locator('.timeline td a:focus');
    const to = String(await focused.getAttribute('href'));
    assert.ok((await page.locator(`.timeline svg a[href="${to}"]`).count()) > 0);
    await page.keyboard.press('Enter');
    await page.waitForURL(stand.url + to);
    await page.locator('input[name=compare]').fill('2026-11-14');
    await page.getByRole('button', { name: 'Look back' }).click();
    assert.match(page.url(), /compare=2026-11-14/);
    await page.getByRole('heading', { name: 'Two moments' }).waitFor();
    await page.context().close();
  });

  it('changes are filtered by a form, and a signal says what it means, without scripts', async () => {
    const page = await open('/changes/2026-11-20', { javaScriptEnabled: false });
    await page.locator('.counts summary').first().focus();
    await page.keyboard.press('Enter');
    assert.equal(await page.locator('.counts details p').first().isVisible(), true);
    await page.locator('select[name=signal]').selectOption('A');
    await page.locator('input[name=name]').fill('tide-tables.example');
    await page.getByRole('button', { name: 'Filter' }).click();
    assert.equal(
      new URL(page.url()).pathname + new URL(page.url()).search,
      '/changes/2026-11-20?signal=A&name=tide-tables.example',
    );
    assert.deepEqual(new Set(await page.locator('.group .what .mono').allTextContents()), new Set(['A']));
    await page.getByRole('link', { name: 'Clear' }).click();
    assert.equal(new URL(page.url()).search, '');
    await page.context().close();
  });

  it('samples of the page that verifies hold, but for the altered one', { skip: ONLY_WIDE }, async () => {
    const page = await open('/verify');
    for (const [sample, state] of [
      ['preview', 'held'],
      ['receipt', 'held'],
      ['badge', 'held'],
      ['altered', 'failed'],
    ]) {
      await page.locator(`[data-sample=${sample}]`).press('Enter');
      await page.locator(`#verdict[data-state=${state}] .status`).waitFor();
      assert.equal(await page.locator('#verdict .running').count(), 0);
    }
    assert.equal(await page.locator('#verdict li.failed').count(), 1);
    await page.context().close();
  });

  it('the tape updates while it is open', { skip: ONLY_WIDE }, async () => {
    const page = await open('/');
    stand.enter(
      probe('late.example', NOW + 1, { A: ['192.0.2.1'] }),
      probe('late.example', NOW + 2, { A: ['192.0.2.99'] }),
    );
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await page.locator('#tape .new').waitFor();
    assert.match(
      String(await page.locator('#tape tr').first().textContent()),
      /late\.example A changed 192\.0\.2\.1 → 192\.0\.2\.99/,
    );
    assert.equal(await page.locator('#tape tr').count(), 50);
    await page.context().close();
  });
});
