import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodePaymentResponseHeader } from '@x402/fetch';
import { isBuilt } from '../../src/desk/press/build.ts';
import { NETWORKS, priceInWords } from '../../src/records/meter/offer.ts';
import { PROJECT } from '../../src/shared/project.ts';
import { run } from '../bench/child.ts';
import { environmentOf } from '../bench/paper.ts';
import { WITHOUT_CHAIN } from '../support/chain.ts';
import { newClient, oldClient, type PayingFetch } from '../support/clients.ts';
import { freePort } from '../support/free-port.ts';
import { PAYEE, paidStand } from '../support/paid-fixture.ts';
import { probe } from '../support/probes.ts';

// `npm run demo:pay`: a chain, a facilitator and the domain records on this machine, and one paid call by each
// generation of x402's clients. Nothing outside this machine is asked, and nothing stays.

const DOOR = '/v1/domains';

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const dollars = (units: number): string =>
  priceInWords({ units, asset: (NETWORKS[1] as (typeof NETWORKS)[number]).usdc });

/** Makes the pages where they are not those of the code: the records print some of their answers with them. */
async function buildPages(): Promise<void> {
  if (isBuilt()) return;
  say('building the pages …');
  const folder = mkdtempSync(join(tmpdir(), 'broadsheet-demo-'));
  try {
    const astro = join(PROJECT, 'node_modules/astro/bin/astro.mjs');
    await run(process.execPath, [astro, 'build'], { cwd: PROJECT, env: environmentOf(folder) });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function demo(t: { after(work: () => unknown): void }): Promise<void> {
  await buildPages();
  const { url, chain, facilitator, enter, clock } = await paidStand(t, { more: await ownAddress() });
  enter(
    probe('www.example.org', clock.now, { CNAME: ['example.org'], A: ['192.0.2.1'] }),
    probe('mail.example.org', clock.now, { A: ['192.0.2.25'], MX: ['10 mail.example.org'] }),
  );
  const [old, young] = [await chain.payer(), await chain.payer()];
  say(`chain        ${chain.url} (anvil, as Base Sepolia, with a dollar of our own where USDC is)`);
  say(`facilitator  ${facilitator.url}`);
  say(`records      ${url}\n`);

  const unpaid = await fetch(url + DOOR);
  const { message } = (await unpaid.json()) as { message: string };
  say(`GET ${DOOR} without a payment: ${unpaid.status}, “${message}”\n`);

  const balances = async () => {
    say(`  payer 1 ${old.address}  ${dollars(await chain.balance(old.address))}`);
    say(`  payer 2 ${young.address}  ${dollars(await chain.balance(young.address))}`);
    say(`  records ${PAYEE}  ${dollars(await chain.balance(PAYEE))}\n`);
  };
  say('balances before');
  await balances();
  await pay('payer 1 with x402-fetch (version 1)', oldClient(old, chain), url + DOOR);
  await pay('payer 2 with @x402/fetch (version 2)', newClient(young), url + DOOR);
  say('balances after');
  await balances();
}

/** The records name their own address, in the 402 too: it is that of the port they get. */
async function ownAddress(): Promise<Record<string, string>> {
  const port = await freePort();
  return { RECORDS_PORT: String(port), DATA_ORIGIN: `http://127.0.0.1:${port}` };
}

async function pay(who: string, client: PayingFetch, url: string): Promise<void> {
  const answer = await client(url);
  const receipt = answer.headers.get('payment-response') ?? answer.headers.get('x-payment-response') ?? '';
  const { transaction } = decodePaymentResponseHeader(receipt);
  const { items } = (await answer.json()) as { items: { domain: string }[] };
  say(`${who}: ${answer.status}, ${items.map(({ domain }) => domain).join(', ')}`);
  say(`  settled in transaction ${transaction}\n`);
}

if (WITHOUT_CHAIN !== false) {
  console.error(`demo:pay pays on a chain of this machine, and ${WITHOUT_CHAIN}`);
  process.exit(1);
}
const endings: (() => unknown)[] = [];
try {
  await demo({ after: (work) => void endings.unshift(work) });
} finally {
  for (const end of endings) await end();
}
