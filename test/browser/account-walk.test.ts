import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import type { Email } from 'postal-mime';
import { appContextIn, tempFolder } from '../support/app-context.ts';
import { probe } from '../support/probes.ts';
import { until } from '../support/program.ts';
import { receiver } from '../support/receiver.ts';
import { recordProbes } from '../support/records-fixture.ts';
import { type ServingHere, serveHere } from '../support/serve-here.ts';
import { parsed, type SmtpStand, smtpServer } from '../support/smtp.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { axeFaultsAA } from './axe.ts';
import { openBrowser } from './chromium.ts';

const EMAIL = 'ada@example.org';
const HOST = 'www.example.com';
/** Watched before the account is made, by the operator. */
const OTHER = 'tide.example';
const run = promisify(execFile);
/** On a push pages.test.ts looks at every page; `.ci/wide` also at what a walk leaves on it. */
const axeFaults = ONLY_WIDE === false ? axeFaultsAA : async () => [];

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
    server = await serveHere(scope as never, folder, { SERVICES: 'records', WEBHOOK_PRIVATE: 'allow', ...mail });
    see('192.0.2.9', OTHER);
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
  const see = (address: string, host = HOST): void => {
    const looked: (() => unknown)[] = [];
    const clock = { now: Date.now() };
    const app = appContextIn({ after: (work) => void looked.push(work) }, folder, clock, { ORIGIN: server.records });
    try {
      recordProbes(app, clock, [probe(host, clock.now, { A: [address] })]);
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
    await page.getByRole('heading', { name: 'Your first request' }).waitFor();
    assert.deepEqual(await axeFaults(page), [], 'overview');
    const [cookie] = await page.context().cookies();
    assert.deepEqual([cookie?.httpOnly, cookie?.sameSite], [true, 'Lax']);
    assert.equal(await page.evaluate(() => document.cookie), '');
  });

  it('goes the first steps: a key, a command that works as it stands, and the request that is seen', async () => {
    const steps = page.locator('#start');
    const done = () => steps.locator('li.done').count();
    assert.equal(await done(), 0);
    await page.getByLabel('What it is for').fill('The walk');
    await click('Make the key');
    key = (await page.locator('#key').textContent()) ?? '';
    assert.equal(await done(), 1);
    assert.deepEqual(await axeFaults(page), [], 'a new key');
    const command = (await page.locator('#command').textContent()) ?? '';
    assert.equal(command, `curl -H 'X-Service-Key: ${key}' ${server.records}/v1/domains/${OTHER}`);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: server.records });
    await click('Copy the command');
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), command);
    const { stdout } = await run('sh', ['-c', `${command.replace('curl', 'curl -sS')}`]);
    assert.equal(JSON.parse(stdout).domain, OTHER);
    // The page looks by itself, and still shows the key.
    await steps.getByText('We saw it at').waitFor();
    assert.equal(await done(), 3);
    assert.equal(await page.locator('#key').textContent(), key);
    assert.deepEqual(await axeFaults(page), [], 'the last step');
    await open('Overview');
    assert.equal(await steps.count(), 0, 'done, the steps go away');
    await page.getByRole('link', { name: 'Show the first steps again' }).click();
    await steps.waitFor();
    assert.equal(await done(), 3);
    assert.equal(await page.locator('#key').count(), 0, 'the key was shown once');
    assert.match((await page.locator('#command').textContent()) ?? '', /"X-Service-Key: \$KEY"/);
    assert.equal(await usage(), 200);
  });

  it('puts a hostname under watch in a group, and is mailed when it changes', async () => {
    await open('Groups');
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Our shops');
    await click('Make the group');
    await page.locator('#hostnames').fill(`${HOST}\n192.0.2.1`);
    await click('Put in and watch');
    await page.getByText('1 added, 1 refused.').waitFor();
    assert.equal(await page.locator('#hostnames').inputValue(), '192.0.2.1', 'what was refused can be mended');
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
    await open('Groups');
    await page.getByRole('link', { name: 'Our shops' }).click();
    await page.getByRole('link', { name: 'Changes of the group' }).click();
    await page.getByRole('cell', { name: '192.0.2.2' }).waitFor();
    assert.deepEqual(await axeFaults(page), [], 'changes of a group');
  });

  it('reads the record with its key, and sees what that cost', async () => {
    const answer = await fetch(`${server.records}/v1/domains/${HOST}`, { headers: { 'X-Service-Key': key } });
    const record = (await answer.json()) as { signed: boolean; signals: { A: { values: string[] } } };
    assert.deepEqual([answer.status, record.signed, record.signals.A.values], [200, true, ['192.0.2.2']]);
    await open('Usage');
    assert.match((await page.getByRole('row', { name: 'The walk' }).textContent()) ?? '', /The walk\s*2\s*2/);
    const day = page.getByRole('slider', { name: 'Day' }).first();
    assert.match((await day.getAttribute('aria-valuetext')) ?? '', /: 2 included, 0 on credits, 0 refused$/);
    await day.press('ArrowLeft');
    assert.match((await day.getAttribute('aria-valuetext')) ?? '', /: no requests$/);
    await page.getByText('The numbers in a table').first().click();
    const rows = page.locator('figure').first().getByRole('row');
    assert.match((await rows.nth(1).textContent()) ?? '', /^\d{4}-\d\d-\d\d2002$/, 'the table is equal to the drawing');
    assert.deepEqual(await axeFaults(page), [], 'usage with its table');
    await open('Credits');
  });

  it('tests, pauses and renews a webhook, and sends a delivery again', async (t) => {
    const hook = await receiver(t);
    await open('Alerts');
    await page.getByLabel('A group', { exact: true }).selectOption('');
    await page.getByLabel('Or one hostname').fill(OTHER);
    await page.getByLabel('Webhook', { exact: false }).first().check();
    await page.getByLabel('Address of the webhook').fill('ftp://hooks.example.com/');
    await click('Make the alert');
    const url = page.getByLabel('Address of the webhook');
    assert.equal(await url.getAttribute('aria-invalid'), 'true');
    assert.match((await url.getAttribute('aria-describedby')) ?? '', /url-problem/);
    assert.equal(await page.getByLabel('Or one hostname').inputValue(), OTHER, 'what was typed stays');
    assert.deepEqual(await axeFaults(page), [], 'a refused alert');
    await url.fill(hook.url);
    await click('Make the alert');
    const first = await page.locator('#secret').textContent();
    assert.deepEqual(await axeFaults(page), [], 'a webhook with its secret');
    await click('Send a test');
    const test = await until(() => hook.got[0] ?? null);
    const attempted = async () => {
      await page.reload();
      return (await page.getByText('delivered').count()) > 0 ? true : null;
    };
    await until(attempted);
    await page.getByRole('button', { name: /^Send webhook\.test .* again$/ }).click();
    const again = await until(() => hook.got[1] ?? null);
    assert.deepEqual([again.body, again.headers['webhook-id']], [test.body, test.headers['webhook-id']]);
    await click('Make a new secret');
    assert.notEqual(await page.locator('#secret').textContent(), first);
    await page.goto(page.url().replace('/secret', ''));
    await click('Pause');
    await page.getByText('is paused: changes from now on are not sent').waitFor();
    assert.deepEqual(await axeFaults(page), [], 'a paused webhook');
    see('192.0.2.10', OTHER);
    await click('Switch it on again');
    await page.getByText('is on again').waitFor();
    see('192.0.2.11', OTHER);
    const changed = await until(() => hook.got[2] ?? null);
    assert.deepEqual(
      JSON.parse(changed.body).data.changes.map(({ after }: { after: string[] }) => after),
      [['192.0.2.11']],
    );
    await click('Remove');
    await click('Make it again');
    await page.locator('#secret').waitFor();
    await click('Remove it');
    await page.getByRole('link', { name: 'Group Our shops' }).click();
    await click('Send a test');
    assert.equal((await mail(2)).subject, 'Test: mails of changes reach you');
  });

  it('sees its sessions, and signs the others out', async () => {
    const other = await browser.newContext();
    const second = await other.newPage();
    await second.goto(`${server.records}/account/sign-in`);
    await second.getByLabel('Mail address').fill(EMAIL);
    await second.getByRole('button', { name: 'Send me a link' }).click();
    const { text = '' } = await mail(3);
    await second.goto(/http\S+\/account\/enter\?token=\S+/.exec(text)?.[0] ?? '');
    await second.getByRole('button', { name: 'Sign in' }).click();
    await open('Sessions');
    assert.equal(await page.getByText('Chrome on').count(), 2);
    await click('Sign out all others');
    await page.getByText('One other browser is signed out').waitFor();
    await second.reload();
    await second.getByRole('heading', { name: 'Sign in' }).waitFor();
    await other.close();
  });

  it('revokes the key, which stops working immediately', async () => {
    await open('Keys');
    await click('Revoke The walk');
    await page.getByText('The key “The walk” is revoked').waitFor();
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
    await page.getByText('The account is deleted').waitFor();
    await page.goto(`${server.records}/account`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    see('192.0.2.3');
    await page.getByLabel('Mail address').fill('ben@example.org');
    await click('Send me a link');
    assert.equal((await mail(4)).to?.[0]?.address, 'ben@example.org', 'nothing more goes to the old address');
  });
});
