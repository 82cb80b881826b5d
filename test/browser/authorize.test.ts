import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { tempFolder } from '../support/app-context.ts';
import { seatAt } from '../support/console-seat.ts';
import { send } from '../support/send.ts';
import { serveHere } from '../support/serve-here.ts';
import { enterPapers } from '../support/small-papers.ts';
import { axeFaultsAA } from './axe.ts';
import { openBrowser } from './chromium.ts';

test('a person allows a program in a browser, which takes the code to it', async (t) => {
  const browser = await openBrowser();
  t.after(() => browser.close());
  const folder = tempFolder(t);
  await enterPapers(folder, [{ slug: 'shared' }]);
  const { url } = await serveHere(t, folder);
  const seat = seatAt(url, folder, 'shared', 'admin');
  // The program on the person's computer, which another site's page leads to the console.
  let answered = '';
  const program = createServer((request, response) => {
    if (request.url?.startsWith('/callback')) answered = request.url;
    response.setHeader('Content-Type', 'text/html');
    response.end(request.url === '/start' ? `<a href="${asked}">Sign in</a>` : 'You may close this page.');
  }).listen(0, '127.0.0.1');
  t.after(() => program.close());
  await new Promise((resolve) => program.once('listening', resolve));
  const { port } = program.address() as AddressInfo;
  const redirect_uri = 'http://127.0.0.1/callback';
  const name = '<b>Desk</b> assistant';
  const registered = await send(url, {
    method: 'POST',
    path: '/shared/oauth/register',
    body: { client_name: name, redirect_uris: [redirect_uri] },
  });
  const { client_id } = JSON.parse(registered.text);
  const query = { response_type: 'code', client_id, redirect_uri: `http://127.0.0.1:${port}/callback`, scope: 'write' };
  const pkce = { code_challenge: 'x'.repeat(43), code_challenge_method: 'S256', state: 'mine' };
  const asked = `${seat.root}authorize?${new URLSearchParams({ ...query, ...pkce })}`;

  const context = await browser.newContext({ colorScheme: 'dark', viewport: { width: 390, height: 844 } });
  await context.addCookies([{ ...seat.cookie, domain: new URL(url).hostname, path: '/shared/', sameSite: 'Strict' }]);
  const page = await context.newPage();
  // Another site: by another name of this machine.
  await page.goto(`http://localhost:${port}/start`);
  await page.click('a');
  await page.waitForSelector('button[value=allow]');
  assert.equal(await page.locator('#who').textContent(), name, 'a name is text');
  assert.deepEqual(await axeFaultsAA(page), []);
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/authorize-dark.png`, fullPage: true });
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1200, height: 900 });
  assert.deepEqual(await axeFaultsAA(page), []);
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/authorize-light.png`, fullPage: true });
  await page.selectOption('#persona', 'ibo-sand');
  await page.click('button[value=allow]');
  await page.waitForURL(/\/callback\?/);
  const given = new URL(answered, 'http://127.0.0.1').searchParams;
  assert.deepEqual([given.get('state'), given.get('iss')], ['mine', `${url}/shared`]);
  assert.match(given.get('code') ?? '', /^[\w-]{43}$/);
});
