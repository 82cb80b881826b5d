import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import PostalMime from 'postal-mime';
import { type AppContext, openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { newId } from '../../src/shared/new-id.ts';
import { envIn, tempFolder } from '../support/app-context.ts';
import { type LocalChain, type Payer, startChain, WITHOUT_CHAIN } from '../support/chain.ts';
import { startFacilitator, type TestFacilitator } from '../support/facilitator.ts';
import { PAYEE, paidEnv, payment } from '../support/paid-fixture.ts';
import { until } from '../support/program.ts';
import { type ServingHere, serveHere } from '../support/serve-here.ts';
import { cookieOf } from '../support/signed-in.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { axeFaultsAA as axeFaults } from './axe.ts';
import { openBrowser } from './chromium.ts';

const TERMS = { daily: 5_000, per_minute: 200, watch: 50, streams: 12, exports: 2_000, price: 5_000, days: 30 };
/** A folder for pictures of the pages, to look at by hand. */
const SHOTS = process.env.SHOTS;

describe('a plan bought on the pages of an account, on a real chain', { skip: ONLY_WIDE || WITHOUT_CHAIN }, () => {
  const endings: (() => unknown)[] = [];
  const scope = { after: (work: () => unknown) => void endings.unshift(work) };
  let chain: LocalChain;
  let facilitator: TestFacilitator;
  let folder: string;
  let server: ServingHere;
  let browser: Browser;
  let app: AppContext;
  let page: Page;
  let payer: Payer;

  before(async () => {
    chain = await startChain(scope);
    facilitator = await startFacilitator(scope, chain);
    folder = tempFolder(scope as never);
    const env = { SERVICES: 'records', ...paidEnv(facilitator.url, chain.url) };
    server = await serveHere(scope as never, folder, env);
    app = openAppContext(readSettings(envIn(folder, { ...env, DATA_ORIGIN: server.records })), Date.now);
    scope.after(() => app.close());
    app.store.records.plans.set({ name: 'newsroom', ...TERMS });
    app.store.records.plans.set({ name: 'agency', ...TERMS, daily: 50_000, watch: 500, price: 25_000 });
    browser = await openBrowser();
    payer = await chain.payer();
    page = await signedIn();
  });
  after(async () => {
    await browser?.close();
    for (const end of endings) await end();
  });

  const signedIn = async (options: object = {}): Promise<Page> => {
    const account = app.store.records.accounts.ofEmail('ada@example.org', {
      id: newId(),
      plan: 'daily',
      made_at: Date.now(),
    });
    assert.notEqual(account, null);
    const [name = '', value = ''] = cookieOf(app).split('=');
    const context = await browser.newContext(options);
    await context.addCookies([{ name, value, url: server.records }]);
    return context.newPage();
  };
  const account = () => app.store.records.accounts.byEmail('ada@example.org')?.id ?? '';
  const shot = async (name: string): Promise<void> => {
    if (SHOTS === undefined) return;
    for (const [look, scheme, width] of [
      ['light', 'light', 1100],
      ['dark', 'dark', 1100],
      ['phone', 'light', 390],
    ] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize({ width, height: 800 });
      await page.screenshot({ path: join(SHOTS, `${name}-${look}.png`), fullPage: true });
    }
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize({ width: 1100, height: 800 });
  };

  it('shows what is on sale, and what the account has', async () => {
    await page.goto(`${server.records}/pricing`);
    assert.deepEqual(await axeFaults(page), []);
    await shot('pricing');
    await page.getByRole('link', { name: 'Buy a plan' }).click();
    await page.getByText('no plan', { exact: true }).waitFor();
    assert.deepEqual(await axeFaults(page), []);
    await page.getByRole('link', { name: 'Buy newsroom' }).click();
    await page.getByRole('heading', { name: 'Buy the plan newsroom' }).waitFor();
    assert.deepEqual(await axeFaults(page), []);
    assert.equal(
      await page.getByRole('button', { name: 'Pay with a wallet' }).isVisible(),
      false,
      'there is no wallet',
    );
  });

  it('refuses what is no payment, and one for another price, and keeps what was typed', async () => {
    for (const [text, problem] of [
      ['???', 'must be one header of base64'],
      [(await payment(payer, 4_999)).headers['X-PAYMENT'] ?? '', 'another amount'],
    ] as const) {
      await page.getByLabel('A payment that').fill(text);
      await page.getByRole('button', { name: 'Pay and have the plan' }).click();
      await page.getByRole('alert').getByText(problem).waitFor();
      assert.equal(await page.getByLabel('A payment that').inputValue(), text);
    }
    assert.deepEqual(await axeFaults(page), []);
    await shot('plan-refused');
    assert.equal(await chain.balance(PAYEE), 0);
  });

  it('is paid by a wallet, and has a receipt by page and by mail', async () => {
    await page.exposeFunction('sign', async (text: string) => {
      const { domain, types, primaryType, message } = JSON.parse(text);
      return payer.signTypedData({ domain, types, primaryType, message });
    });
    const asked: string[] = [];
    await page.exposeFunction('note', (method: string) => asked.push(method));
    await page.addInitScript((address) => {
      const here = globalThis as unknown as Record<string, (...args: unknown[]) => unknown>;
      Object.assign(globalThis, {
        ethereum: {
          async request({ method, params = [] }: { method: string; params?: unknown[] }) {
            await here.note?.(method);
            if (method === 'eth_requestAccounts') return [address];
            return method === 'eth_signTypedData_v4' ? here.sign?.(params[1]) : null;
          },
        },
      });
    }, payer.address);
    await page.goto(`${server.records}/account/plans/newsroom`);
    await page.getByRole('button', { name: 'Pay with a wallet' }).click();
    await page.getByRole('heading', { name: 'Receipt for the plan newsroom' }).waitFor();
    assert.deepEqual(asked, ['eth_requestAccounts', 'wallet_switchEthereumChain', 'eth_signTypedData_v4']);
    assert.deepEqual(await axeFaults(page), []);
    await shot('receipt');
    assert.equal(await chain.balance(PAYEE), 5_000);
    const [receipt] = app.store.records.plans.receipts(account());
    assert.match(page.url(), new RegExp(`/account/receipts/${receipt?.id}`));
    const text = await until(async () => {
      const outbox = join(folder, 'var/outbox');
      for (const name of existsSync(outbox) ? readdirSync(outbox) : []) {
        const mail = await PostalMime.parse(readFileSync(join(outbox, name)));
        if (mail.subject?.startsWith('Receipt: the plan newsroom')) return mail.text ?? '';
      }
      return null;
    });
    assert.match(text, /0\.005 USDC for 30 days/);
    assert(text.includes(`${server.records}/account/receipts/${receipt?.id}`), text);
  });

  it('is renewed without script by a payment that another program signed, and what is left counts', async () => {
    page = await signedIn({ javaScriptEnabled: false });
    await page.goto(`${server.records}/account/credits`);
    await page.getByRole('link', { name: 'Renew newsroom' }).click();
    const { headers } = await payment(payer, 5_000, { version: 2 });
    await page.getByLabel('A payment that').fill(headers['PAYMENT-SIGNATURE'] ?? '');
    await page.getByRole('button', { name: 'Pay and have the plan' }).click();
    await page.getByText('days of which were left of the plan before').waitFor();
    const [second, first] = app.store.records.plans.receipts(account());
    assert.equal(Number(second?.ends_at) - Number(first?.starts_at), 60 * 86_400_000);
    await page.goto(`${server.records}/account/credits`);
    await page.getByText('Receipts (2)').click();
    await shot('credits');
    await page.goto(`${server.records}/account/plans/agency`);
    await page.getByText('what is left of it counts for').waitFor();
    await shot('plan');
    assert.equal(await chain.balance(PAYEE), 10_000);
  });
});
