import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import type { Email } from 'postal-mime';
import PostalMime from 'postal-mime';
import { tempFolder } from '../support/app-context.ts';
import { copyDemo, run, until } from '../support/program.ts';
import { type ServingHere, serveHere } from '../support/serve-here.ts';
import { type SmtpStand, smtpServer } from '../support/smtp.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { openBrowser } from './chromium.ts';

const EMAIL = 'ana@example.org';
const PAPER = 'the-plumb-line';

/** A reader from the form to the end: mails over SMTP, links in a real browser, pieces filed through the API. */
describe('a reader', () => {
  const endings: (() => unknown)[] = [];
  const scope = { after: (work: () => unknown) => void endings.push(work) };
  let smtp: SmtpStand;
  let server: ServingHere;
  let browser: Browser;
  let page: Page;
  let key: string;
  const root = () => `${server.url}/${PAPER}`;

  before(async () => {
    const folder = tempFolder(scope);
    copyDemo(folder);
    smtp = await smtpServer(scope);
    browser = await openBrowser();
    server = await serveHere(scope as never, folder, {
      SMTP_URL: `smtp://127.0.0.1:${smtp.port}`,
      MAIL_FROM: 'alerts@paper.example',
    });
    const made = await run(scope as never, folder, [
      ...['key', 'create', '--paper', PAPER, '--level', 'admin', '--name', 'The walk', '--json'],
    ]);
    ({ key } = JSON.parse(made.stdout) as { key: string });
    page = await browser.newPage();
  });
  after(async () => {
    await browser?.close();
    for (const end of endings.reverse()) await end();
  });

  /** The n-th mail that the server took. */
  const mail = async (n: number): Promise<Email> => {
    const taken = await until(() => smtp.taken[n] ?? null);
    assert.deepEqual(taken.to, [EMAIL]);
    return PostalMime.parse(taken.raw);
  };
  const linkIn = ({ text }: Email, path: string): string =>
    new RegExp(`${root()}/subscribe/${path}\\?token=[\\w.~-]+`).exec(text ?? '')?.[0] ?? '';
  const publish = async (headline: string): Promise<void> => {
    const facts = ['NIST', 'BIPM'].map((source) => ({ statement: 'So it is.', source, instrument: 'A document' }));
    const answer = await fetch(`${root()}/api/v1/stories`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({
        headline,
        dek: 'What was found, in a sentence.',
        category: 'Time',
        byline: 'ines-calloway',
        prose: 'One.[^1] Two.[^2]',
        cited_facts: facts,
        air: true,
      }),
    });
    assert.equal(answer.status, 201, await answer.text());
  };
  const confirmed = async (): Promise<unknown> => {
    const answer = await fetch(`${root()}/api/v1/subscribers`, { headers: { 'X-NRF-Key': key } });
    const { subscribers } = (await answer.json()) as {
      subscribers: { confirmed_at: string | null; cadence: string }[];
    };
    return subscribers.map(({ confirmed_at, cadence }) => [confirmed_at !== null, cadence]);
  };
  /** What scanners in mail servers do: every link is fetched, by GET and by HEAD. */
  const scan = async ({ text, html, headers }: Email): Promise<void> => {
    const all = `${text} ${html} ${headers.map(({ value }) => value).join(' ')}`.replaceAll('&amp;', '&');
    const links = new Set([...all.matchAll(/https?:\/\/127\.0\.0\.1[^\s"'<>)]+/g)].map(([link]) => link));
    assert.ok(links.size > 0);
    for (const link of links) {
      for (const method of ['GET', 'HEAD', 'GET']) {
        const { status } = await fetch(link, { method });
        assert.equal(status, 200, `${method} ${link}`);
      }
    }
  };

  it('subscribes on the page and is asked to confirm; fetching the links confirms nothing', async () => {
    await page.goto(`${root()}/subscribe/`);
    await page.fill('#email', EMAIL);
    await page.getByLabel('At once').check();
    await page.getByRole('button', { name: 'Subscribe' }).click();
    await page.getByText('A message with a link to confirm goes to this address').waitFor();
    const asked = await mail(0);
    await publish('Before anybody confirmed');
    await scan(asked);
    assert.deepEqual(await confirmed(), [[false, 'instant']]);
    await page.goto(linkIn(asked, 'confirm'));
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByRole('heading', { name: 'You are subscribed' }).waitFor();
    assert.deepEqual(await confirmed(), [[true, 'instant']]);
  });

  it('gets an alert when a piece goes on air; it names the author and has no tracking', async () => {
    await publish('The first piece after');
    const alert = await mail(1);
    assert.match(alert.subject ?? '', /The first piece after/);
    for (const body of [alert.text ?? '', alert.html ?? '']) {
      assert.match(body, /The first piece after/);
      assert.match(body, /AI persona/);
      assert.ok(body.includes(`${root()}/stories/the-first-piece-after/`));
    }
    const header = (name: string) => alert.headers.find(({ key: found }) => found === name)?.value ?? '';
    assert.match(header('list-unsubscribe'), /^<http\S+\/subscribe\/unsubscribe\?token=\S+>$/);
    assert.equal(header('list-unsubscribe-post'), 'List-Unsubscribe=One-Click');
    for (const [, source = ''] of (alert.html ?? '').matchAll(/<img[^>]*src="([^"]*)"/g)) {
      assert.ok(source.startsWith(`${root()}/media/`), `a picture of the piece's own: ${source}`);
    }
    await scan(alert);
    assert.deepEqual(await confirmed(), [[true, 'instant']], 'no link was an ending');
  });

  it('changes the cadence, and ends it with one click; nothing comes after', { skip: ONLY_WIDE }, async () => {
    const alert = await mail(1);
    await page.goto(linkIn(alert, 'manage'));
    await page.getByLabel('Weekly').check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    assert.deepEqual(await confirmed(), [[true, 'weekly']]);
    await page.getByLabel('At once').check();
    await page.getByRole('button', { name: 'Save' }).click();
    await until(async () => (JSON.stringify(await confirmed()) === '[[true,"instant"]]' ? true : null));

    const unsubscribe = alert.headers.find(({ key: found }) => found === 'list-unsubscribe')?.value.slice(1, -1) ?? '';
    const ended = await fetch(unsubscribe, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: 'List-Unsubscribe=One-Click',
    });
    assert.equal(ended.status, 200);
    assert.deepEqual(await confirmed(), []);
    await publish('A piece for nobody');
    // A reader who comes back is asked anew: that mail comes after any alert there might have been.
    await page.goto(`${root()}/subscribe/`);
    await page.fill('#email', 'ben@example.org');
    await page.getByRole('button', { name: 'Subscribe' }).click();
    const next = await until(() => smtp.taken[2] ?? null);
    assert.deepEqual(next.to, ['ben@example.org']);
  });
});
