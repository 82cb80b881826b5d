import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { auditApp } from '../../src/operate/audit/audit.ts';
import { openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { envIn, tempFolder } from '../support/app-context.ts';
import { type Seat, seatAt } from '../support/console-seat.ts';
import { type Given, type McpUser, mcpUser } from '../support/mcp.ts';
import { type ServingHere, serveHere } from '../support/serve-here.ts';
import { enterPapers, storyBody } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { axeFaultsAA } from './axe.ts';
import { openBrowser } from './chromium.ts';

const PAPER = 'tide-table';
const READER = 'reader@example.org';

/** A whole day of a desk: an agent files over MCP, and the editor works in the console, in a real browser. */
const day = (hasScript: boolean) => () => {
  const endings: (() => unknown)[] = [];
  const scope = { after: (work: () => unknown) => void endings.unshift(work) };
  let folder: string;
  let server: ServingHere;
  let browser: Browser;
  let page: Page;
  let seat: Seat;
  let agent: McpUser;
  const ids: string[] = [];

  before(async () => {
    folder = tempFolder(scope);
    await enterPapers(folder, [{ slug: PAPER }]);
    browser = await openBrowser();
    server = await serveHere(scope as never, folder, { CARDS: 'off' });
    seat = seatAt(server.url, folder, PAPER, 'admin');
    const context = await browser.newContext({ javaScriptEnabled: hasScript });
    const { hostname } = new URL(server.url);
    await context.addCookies([
      { ...seat.cookie, domain: hostname, path: `/${PAPER}/`, sameSite: 'Strict', httpOnly: true },
    ]);
    page = await context.newPage();
  });
  after(async () => {
    await browser?.close();
    for (const end of endings) await end();
  });

  const open = async (path: string) => {
    await page.goto(seat.root + path);
    // axe is a script.
    if (hasScript) assert.deepEqual(await axeFaultsAA(page), [], path);
  };
  const press = (name: string | RegExp) => page.getByRole('button', { name, exact: typeof name === 'string' }).click();
  /** What the last action did, in the words of the page. */
  const said = async () => (await page.locator('.notice.done').textContent()) ?? '';
  // biome-ignore lint/suspicious/noExplicitAny: clients check results against the schemas of the tools
  const dataOf = ({ structuredContent }: Given): any => structuredContent;
  // biome-ignore lint/suspicious/noExplicitAny: members of many schemas
  const api = async (path: string, key: string): Promise<any> => {
    const response = await fetch(`${server.url}/${PAPER}/api/v1/${path}`, { headers: { 'x-nrf-key': key } });
    return response.json();
  };

  it('begins with a key for the agent, whose pieces a person approves', async () => {
    await open('agents');
    await page.getByLabel('Signed by: name and role').fill('Mara Vell, publisher');
    await press('Sign for the paper');
    assert.match(await said(), /Agents may write now/);
    await page.getByLabel('Whose it is, or what it is for').fill('Wire agent');
    await press('Make the key');
    const key = (await page.locator('.secret code').textContent()) ?? '';
    assert.match(key, /^nrf_/);
    assert.equal((await seat.get('agents')).html.includes(key), false, 'it is shown once');
    const { status } = await fetch(`${server.url}/${PAPER}/api/v1/config`, {
      method: 'PUT',
      headers: { 'x-nrf-key': await adminKey(), 'content-type': 'application/json' },
      body: JSON.stringify({ review: { shown: true } }),
    });
    assert.equal(status, 200);
    agent = await mcpUser(scope, '2026', server.url, { authorization: `Bearer ${key}` }, `/${PAPER}/mcp`);
    await agent.tools();
  });

  /** A key for what the day does outside of the browser, made in the console too. */
  async function adminKey(): Promise<string> {
    const html = await seat.done('agents/make', { level: 'admin', name: 'Editor’s own script' });
    return /<code>(nrf_[^<]+)/.exec(html)?.[1] ?? assert.fail();
  }

  it('goes on with three pieces over MCP, of which one is refused', async () => {
    for (const slug of ['king-tide', 'red-tide']) {
      const filed = dataOf(await agent.call('file_piece', { ...storyBody(slug), air: slug === 'king-tide' }));
      assert.equal(filed.story.review.state, 'waiting', 'nothing of an agent’s goes on air unread');
      ids.push(filed.story.id);
    }
    const refused = await agent.call('file_piece', { ...storyBody('no-tide'), prose: 'It is so.[^9]' });
    assert.equal(refused.isError, true);
    await open('');
    const main = (await page.locator('main').textContent()) ?? '';
    for (const words of ['Waits for approval', 'was refused the filing of', 'marker without entry'])
      assert.ok(main.includes(words), words);
  });

  it('the editor asks for a revision, approves it, and schedules the other', async () => {
    const [first = '', second = ''] = ids;
    await open(`pieces/${first}`);
    await page.getByLabel('What is to be changed').fill('Say which harbour.');
    await press('Send it back');
    const { drafts } = dataOf(await agent.call('list_drafts'));
    const sent = drafts.find(({ id }: { id: string }) => id === first);
    assert.partialDeepStrictEqual(sent.review, { state: 'changes_requested', note: 'Say which harbour.' });
    const { slug: _slug, ...body } = storyBody('king-tide');
    await agent.call('revise_piece', { ...body, id: first, revision: 1, dek: 'In the harbour of Tarn.', air: true });
    await open(`pieces/${first}/changes`);
    assert.match((await page.locator('ins').first().textContent()) ?? '', /Tarn/);
    await open(`pieces/${first}`);
    await page.getByLabel('Your name, as it is signed for good').fill('Mara Vell');
    await page.getByLabel('In which capacity').fill('Managing editor');
    await press('Approve and sign');
    assert.match(await said(), /approved, signed, and on air/);
    const reader = await fetch(`${server.url}/${PAPER}/stories/king-tide/`);
    assert.match(await reader.text(), /Mara Vell/, 'readers see who approved it');

    await open(`pieces/${second}`);
    await page.getByLabel('Your name, as it is signed for good').fill('Mara Vell');
    await press('Approve and sign');
    await open(`pieces/${second}`);
    await page.getByText('Put on air', { exact: true }).first().click();
    await page.getByLabel('At a time').check();
    await page.getByLabel('Time', { exact: true }).fill('2099-07-01T08:00');
    await page.getByLabel('Time zone').fill('Europe/Berlin');
    await page.locator('form[action$="/air"] button').click();
    assert.match(await said(), /2099-07-01T06:00:00\.000Z/);
  });

  it('corrects the first in the editor, places it, and withdraws another', async () => {
    const [first = ''] = ids;
    await open(`pieces/${first}/edit`);
    await page.getByLabel('Dek: one sentence that says what the piece finds').fill('In the harbour of Tarn, at noon.');
    await page.getByLabel('Correction: what was wrong').fill('The hour was missing.');
    await press('File the revision');
    assert.match(await said(), /[Ff]iled|on air/);
    await open(`pieces/${first}`);
    await page.getByText('Place on the front').click();
    await page.getByLabel('Place', { exact: true }).selectOption('1');
    await press('Place');
    assert.match(await said(), /placed on the front/);
    const front = await fetch(`${server.url}/${PAPER}/`);
    assert.match(await front.text(), /king tide/);

    const { stories } = await api('stories?limit=50', await adminKey());
    const old = stories.find(({ slug }: { slug: string }) => slug === 'low-water').id;
    await open(`pieces/${old}`);
    await page.getByText('Withdraw', { exact: true }).first().click();
    await page.getByLabel('Reason, which readers will see').fill('The gauge was broken.');
    await page.locator('form[action$="/withdraw"] button').click();
    assert.match(await said(), /its page is a notice/);
    assert.equal((await fetch(`${server.url}/${PAPER}/stories/low-water/`)).status, 410);
  });

  it('erases a reader, revokes the key of the script, and tells it all', async () => {
    await open('readers');
    await page.getByLabel('Up to 20 addresses').fill(READER);
    await press('Invite');
    await open(`readers/${READER}`);
    await press(`Erase ${READER}`);
    assert.match(await said(), /is forgotten/);
    await open('agents');
    const script = page.getByRole('row', { name: /Editor’s own script/ }).first();
    await script.locator('summary').click();
    await script.getByRole('button', { name: /Revoke/ }).click();
    assert.match(await said(), /revoked for good/);

    await open('activity');
    const told = (await page.locator('.activity').textContent()) ?? '';
    for (const words of [
      'filed',
      'was refused the filing of',
      'reviewed',
      'scheduled',
      'revised',
      'placed the front',
      'withdrew',
      'made the key',
      'revoked the key',
      'erased a reader',
      'MCP',
      'console',
    ])
      assert.ok(told.includes(words), words);
    assert.equal(told.includes(READER), false, 'the log names no reader');
  });

  it('ends with an audit without a fault', async () => {
    const app = openAppContext(readSettings(envIn(folder)));
    try {
      assert.deepEqual((await auditApp(app, { deep: true })).faults, []);
    } finally {
      app.close();
    }
  });
};

describe('a day in the newsroom', { skip: ONLY_WIDE }, day(true));
describe('the same day without script', { skip: ONLY_WIDE }, day(false));
