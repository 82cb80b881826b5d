import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import type { Email } from 'postal-mime';
import { appContextIn, tempFolder } from '../support/app-context.ts';
import { probe } from '../support/probes.ts';
import { until } from '../support/program.ts';
import { recordProbes } from '../support/records-fixture.ts';
import { type ServingHere, serveHere } from '../support/serve-here.ts';
import { parsed, type SmtpStand, smtpServer } from '../support/smtp.ts';
import { axeFaults } from './axe.ts';
import { openBrowser } from './chromium.ts';

const EMAIL = 'ada@example.org';
const HOST = 'www.example.com';

/** An account from its first link to its end, on the records alone: the real program, mails over SMTP, a real browser. */
describe('an account', () => {
  const endings: (() => unknown)[] = [];
  const scope = { after: (work: () => unknown) => void endings.unshift(work) };
  let folder: string;
  let smtp: SmtpStand;
  let server: ServingHere;
  let browser: Browser;
  let page: Page;
  let key = '';

  before(async () => {
    folder = tempFolder(scope);
    smtp = await smtpServer(scope);
    const mail = { SMTP_URL: `smtp://127.0.0.1:${smtp.port}`, MAIL_FROM: 'alerts@records.example' };
    browser = await openBrowser();
    server = await serveHere(scope as never, folder, { SERVICES: 'records', ...mail });
    page = await browser.newPage();
  });
  after(async () => {
    await browser?.close();
    for (const end of endings) await end();
  });

  const mail = async (n: number): Promise<Email> => parsed(await until(() => smtp.taken[n] ?? null));
  const click = (name: string) => page.getByRole('button', { name }).click();
  /** Opens a page from the bar of the account's own. */
  const open = async (name: string): Promise<void> => {
    await page.getByRole('navigation', { name: 'Account' }).getByRole('link', { name }).click();
    assert.deepEqual(await axeFaults(page), [], name);
  };
  /** Enters a look as a scanner in another process would. */
  const see = (address: string): void => {
    const looked: (() => unknown)[] = [];
    const clock = { now: Date.now() };
    const app = appContextIn({ after: (work) => void looked.push(work) }, folder, clock, { ORIGIN: server.records });
    try {
      recordProbes(app, clock, [probe(HOST, clock.now, { A: [address] })]);
    } finally {
      for (const end of looked) end();
    }
  };
  const usage = async () => (await fetch(`${server.records}/v1/usage`, { headers: { 'X-Service-Key': key } })).status;

  it('signs in by a mailed link, whose button and not whose opening does it', async () => {
    await page.goto(`${server.records}/account`);
    await page.getByLabel('Mail address').fill(EMAIL);
    assert.deepEqual(await axeFaults(page), [], 'sign in');
    await click('Send me a link');
    await page.getByText(`on its way to ${EMAIL}`).waitFor();
    const { text = '' } = await mail(0);
    const link = /http\S+\/account\/enter\?token=\S+/.exec(text)?.[0] ?? '';
    assert.ok(link.startsWith(server.records));
    for (const method of ['HEAD', 'GET']) assert.equal((await fetch(link, { method })).status, 200);
    await page.goto(link);
    assert.deepEqual(await axeFaults(page), [], 'enter');
    await click('Sign in');
    await page.getByText('this browser').waitFor();
    assert.deepEqual(await axeFaults(page), [], 'overview');
    const [cookie] = await page.context().cookies();
    assert.deepEqual([cookie?.httpOnly, cookie?.sameSite], [true, 'Lax']);
    assert.equal(await page.evaluate(() => document.cookie), '');
  });

  it('makes a key, sees it once, and uses it', async () => {
    await open('Keys');
    await page.getByLabel('What it is for').fill('The walk');
    await click('Make a key');
    key = (await page.locator('#key').textContent()) ?? '';
    assert.deepEqual(await axeFaults(page), [], 'a new key');
    assert.equal(await usage(), 200);
    await open('Keys');
    assert.equal(await page.locator('#key').count(), 0);
  });

  it('puts a hostname under watch in a group, and is mailed when it changes', async () => {
    await open('Groups');
    await page.getByRole('textbox', { name: 'Name' }).fill('Our shops');
    await click('Make the group');
    await page.locator('#hostnames').fill(`${HOST}\n192.0.2.1`);
    await click('Put in and watch');
    await page.getByText('1 added, 1 refused.').waitFor();
    assert.deepEqual(await axeFaults(page), [], 'a group');
    see('192.0.2.1');
    await open('Alerts');
    await page.getByLabel('Mail, at once').check();
    await click('Make the alert');
    await page.getByText('Group Our shops').waitFor();
    assert.deepEqual(await axeFaults(page), [], 'an alert');
    see('192.0.2.2');
    const told = await mail(1);
    assert.equal(told.subject, `${HOST} changed`);
    assert.match(told.text ?? '', /A changed: 192\.0\.2\.1 → 192\.0\.2\.2/);
    assert.match(told.html ?? '', new RegExp(`${server.records}/t/${HOST}`));
  });

  it('reads the record with its key, and sees what that cost', async () => {
    const answer = await fetch(`${server.records}/v1/domains/${HOST}`, { headers: { 'X-Service-Key': key } });
    const record = (await answer.json()) as { signed: boolean; signals: { A: { values: string[] } } };
    assert.deepEqual([answer.status, record.signed, record.signals.A.values], [200, true, ['192.0.2.2']]);
    await open('Usage');
    assert.match((await page.getByRole('row', { name: 'The walk' }).textContent()) ?? '', /The walk\s*1\s*1/);
    await open('Credits');
  });

  it('revokes the key, which stops working immediately', async () => {
    await open('Keys');
    await click('Revoke The walk');
    await page.getByText('Keys that ended (1)').waitFor();
    assert.equal(await usage(), 401);
  });

  it('deletes the account: its session ends, its alerts too', async () => {
    await open('Your data');
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download' }).click();
    assert.equal((await download).suggestedFilename(), 'domain-records-account.json');
    await page.getByLabel('to confirm').fill(EMAIL);
    await click('Delete the account');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.goto(`${server.records}/account`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    see('192.0.2.3');
    await page.getByLabel('Mail address').fill('ben@example.org');
    await click('Send me a link');
    assert.equal((await mail(2)).to?.[0]?.address, 'ben@example.org', 'nothing more goes to the old address');
  });
});
