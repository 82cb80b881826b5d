import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Browser, Page, Route } from 'playwright-core';
import { ONLY_WIDE } from '../support/wide.ts';
import { type SharedStand, sharedStand } from './fixture.ts';

const ROW = {
  headline: '<b>Metre</b> & more',
  dek: 'A dek',
  url: '/the-plumb-line/stories/metre-of-light/',
  published_at: '2026-11-15T07:10:00.000Z',
  category: 'Measures',
  byline: { name: 'Osric Tamblyn' },
};

/** The pages that speak to the API, with an API that answers as each test says. */
describe('search and subscribe', () => {
  let stand: SharedStand;
  let browser: Browser;
  before(async () => {
    stand = await sharedStand();
    browser = stand.browser;
  });

  async function open(path: string, api: (route: Route) => Promise<void>): Promise<Page> {
    const page = await browser.newPage();
    await page.route('**/api/v1/**', api);
    await page.goto(`${stand.url}/the-plumb-line/${path}`);
    return page;
  }
  const answer = (status: number, body: object) => (route: Route) =>
    route.fulfill({ status, contentType: 'application/json', body: JSON.stringify(body) });

  it('search shows what the API found, as text', async () => {
    const page = await open('search/?q=metre', answer(200, { q: 'metre', count: 1, stories: [ROW] }));
    const found = page.locator('#found article');
    await found.waitFor();
    assert.equal(await found.locator('h2').textContent(), '<b>Metre</b> & more');
    assert.match((await found.locator('.byline').textContent()) ?? '', /Osric Tamblyn AI persona/);
    await page.fill('#q', 'second');
    await page.press('#q', 'Enter');
    await page.waitForURL('**/search/?q=second');
    await page.goBack();
    assert.equal(await page.inputValue('#q'), 'metre');
    await page.close();
  });

  it('search shows facts of the record below the pieces, as text', async () => {
    const fact = { claim_key: 'second-1967', statement: '<i>The second</i> is caesium’s.', source: 'BIPM' };
    const page = await open('search/?q=second', (route) =>
      answer(200, route.request().url().includes('/facts?') ? { facts: [fact] } : { stories: [ROW] })(route),
    );
    const link = page.locator('#found article ~ section a');
    await link.waitFor();
    assert.equal(await link.textContent(), fact.statement);
    assert.match((await link.getAttribute('href')) ?? '', /\/the-plumb-line\/facts\/second-1967\/$/);
    await page.close();
  });

  it('search finds as one types, marks what matches, and goes back to each question', async () => {
    const asked: string[] = [];
    const page = await open('search/', async (route) => {
      const { pathname, searchParams } = new URL(route.request().url());
      if (pathname.endsWith('/facts')) return answer(200, { facts: [] })(route);
      asked.push(`${searchParams}`);
      await answer(200, { stories: [{ ...ROW, headline: 'Der Ärger mit dem Metermaß' }] })(route);
    });
    await page.locator('#q').pressSequentially('arger', { delay: 10 });
    const found = page.locator('#found article');
    await found.waitFor();
    assert.deepEqual(asked, ['q=arger'], 'one question for all that was typed');
    assert.deepEqual(await page.locator('#found mark').allTextContents(), ['Ärger']);
    assert.equal(await found.locator('svg').count(), 1, 'the shapes of its section stand for a picture');
    await page.locator('#q').pressSequentially(' me', { delay: 10 });
    await page.waitForURL('**/search/?q=arger+me');
    await page.keyboard.press('Enter');
    await page.getByLabel('Letters').check();
    await page.waitForURL('**/search/?q=arger+me&section=letters');
    await page.goBack();
    assert.equal(await page.locator('.chips :checked').inputValue(), '');
    await page.goBack();
    assert.equal(await page.inputValue('#q'), '', 'what was typed without a pause is one entry');
    assert.equal(await found.count(), 0);
    await page.close();
  });

  it('search has fonts for what it found in other scripts, and for that alone', { skip: ONLY_WIDE }, async () => {
    const page = await open('search/?q=metre', answer(200, { stories: [ROW] }));
    await page.locator('#found article').waitFor();
    const fonts = page.locator('link[href="/the-plumb-line/fonts.css"]');
    assert.equal(await fonts.count(), 0);
    await page.route('**/api/v1/**', answer(200, { stories: [{ ...ROW, headline: 'メートル' }] }));
    for (const words of ['one', 'two']) {
      await page.fill('#q', words);
      await page.press('#q', 'Enter');
      await page.getByText('メートル').waitFor();
    }
    await fonts.waitFor({ state: 'attached' });
    assert.equal(await fonts.count(), 1);
    await page.close();
  });

  it('search is walked with the keyboard alone', async () => {
    const page = await open('search/?q=metre', answer(200, { stories: [ROW, { ...ROW, slug: 'second' }] }));
    await page.locator('#found article').first().waitFor();
    await page.focus('#q');
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown']) await page.keyboard.press(key);
    assert.match(await page.evaluate(() => (document.activeElement as HTMLAnchorElement).href), /stories\/second\/$/);
    for (const key of ['ArrowUp', 'ArrowUp']) await page.keyboard.press(key);
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'q');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowRight');
    await page.waitForURL('**/search/?q=metre&section=time');
    await page.close();
  });

  it('search leads on where nothing is found, and out of a section or a year that is none', {
    skip: ONLY_WIDE,
  }, async () => {
    const page = await open('search/?q=zzz&section=time&year=1066', (route) =>
      answer(200, { stories: route.request().url().includes('section=') ? [] : [ROW] })(route),
    );
    await page.getByRole('button', { name: 'Search the whole paper' }).click();
    await page.locator('#found article').waitFor();
    assert.equal(new URL(page.url()).search, '?q=zzz');
    await page.goto(`${stand.url}/the-plumb-line/search/?q=zzz&section=nowhere`);
    await page.locator('#found article').waitFor();
    await page.close();
  });

  it('search says that the browser is offline, and goes on when it is back', { skip: ONLY_WIDE }, async () => {
    let isThere = false;
    const page = await open('search/', (route) =>
      isThere ? answer(200, { stories: [ROW] })(route) : route.abort('internetdisconnected'),
    );
    await page.context().setOffline(true);
    await page.fill('#q', 'metre');
    await page.getByText('You are offline').waitFor();
    isThere = true;
    await page.context().setOffline(false);
    await page.locator('#found article').waitFor();
    await page.close();
  });

  it('search passes on what the API refuses', async () => {
    const page = await open(
      'search/?q=a+b+c+d+e',
      answer(400, { error: 'invalid_request', message: 'at most four terms' }),
    );
    await page.getByText('at most four terms').waitFor();
    await page.close();
  });

  for (const [how, api] of [
    ['is not there', (route: Route) => route.abort()],
    ['is a static host', (route: Route) => route.fulfill({ status: 404, contentType: 'text/html', body: '<p>no' })],
    ['has failed', answer(503, { error: 'unavailable', message: 'x' })],
  ] as const) {
    it(`search says so when the API ${how}`, { skip: how !== 'has failed' && ONLY_WIDE }, async () => {
      const page = await open('search/?q=metre', api);
      await page.getByText('The search is not answering at the moment').waitFor();
      await page.close();
    });
  }

  it('search asks once more when too many search', { skip: ONLY_WIDE }, async () => {
    let asked = 0;
    const page = await open('search/?q=metre', (route) =>
      route.request().url().includes('/facts?')
        ? answer(200, { facts: [] })(route)
        : ++asked === 1
          ? route.fulfill({ status: 503, headers: { 'Retry-After': '1' }, body: '{"error":"unavailable"}' })
          : answer(200, { q: 'metre', count: 1, stories: [ROW] })(route),
    );
    await page.locator('#found article').waitFor();
    assert.equal(asked, 2);
    await page.close();
  });

  it('the chapters and the transcript of a video lead into it, or into its sound alone', async () => {
    const page = await browser.newPage();
    await page.goto(`${stand.url}/the-plumb-line/cast/2026-11-19/`);
    // A browser that knows the format plays on; it is paused to be looked at.
    const from = (player: string) =>
      page.locator(`.screen ${player}`).evaluate((player: HTMLMediaElement) => {
        player.pause();
        return Math.floor(player.currentTime / 5) * 5;
      });
    await page.locator('.chapters a').nth(2).click();
    assert.equal(await from('video'), 10, 'chapter 3 begins at 0:11');
    assert.equal(await page.locator('.transcript p').count(), 6, 'each sentence has its time');
    await page.getByText('Sound alone').click();
    await page.locator('.transcript a').nth(1).click();
    assert.deepEqual([await from('audio'), await from('video')], [5, 10]);
    assert.match(page.url(), /2026-11-19\/$/);
    await page.close();
  });

  it('the guide for agents asks the paper itself, and nothing else', async () => {
    const page = await browser.newPage();
    await page.goto(`${stand.url}/the-plumb-line/agents/`);
    const said = page.locator('.terminal .said');
    const pressed = JSON.parse((await page.locator('.answer').textContent()) ?? '');
    await page.getByRole('button', { name: 'Send' }).click();
    await said.filter({ hasText: /^200 OK · application\/json/ }).waitFor();
    assert.deepEqual(
      JSON.parse((await page.locator('.answer').textContent()) ?? ''),
      pressed,
      'it was pressed as it is',
    );
    await page.locator('.tries a', { hasText: '/api/v1/sections' }).click();
    await page.locator('.answer', { hasText: '"sections"' }).waitFor();
    assert.equal(await page.inputValue('#path'), '/api/v1/sections');
    assert.match(
      (await page.locator('.curl code').textContent()) ?? '',
      /^curl -sS 'http:.*\/the-plumb-line\/api\/v1\/sections'$/,
    );
    for (const path of ['/../the-leading-light/api/v1', 'https://example.org/', '//example.org/x']) {
      await page.fill('#path', path);
      await page.keyboard.press('Enter');
      if (path.startsWith('//')) await said.filter({ hasText: /^404/ }).waitFor();
      else await said.filter({ hasText: 'begins with a slash' }).waitFor();
    }
    await page.close();
  });

  it('subscribe sends the choices and shows the answer', async () => {
    let sent: unknown;
    const page = await open('subscribe/', async (route) => {
      sent = route.request().postDataJSON();
      await answer(202, { status: 'pending', message: 'Check your e-mail.' })(route);
    });
    await page.fill('#email', 'reader@example.org');
    await page.getByLabel('Weekly').check();
    await page.getByLabel('Proof').uncheck();
    await page.locator('#order button').click();
    await page.getByText('Check your e-mail.').waitFor();
    assert.deepEqual(sent, {
      email: 'reader@example.org',
      cadence: 'weekly',
      sections: ['Time', 'Measures', 'Letters', 'Networks'],
      cast: true,
    });
    await page.close();
  });

  it('subscribe shows a problem at its field', async () => {
    const page = await open(
      'subscribe/',
      answer(400, { error: 'invalid_request', field: 'email', message: 'not an address' }),
    );
    await page.fill('#email', 'reader@example');
    await page.locator('#order button').click();
    await page.locator('#email-problem').getByText('not an address').waitFor();
    assert.equal(await page.getAttribute('#email', 'aria-invalid'), 'true');
    await page.close();
  });
});
