import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { facilitatorClient } from '../../src/records/meter/facilitator.ts';
import { decodePayment } from '../../src/records/meter/payment.ts';
import { type LocalChain, NETWORK, startChain } from '../support/chain.ts';
import { startFacilitator } from '../support/facilitator.ts';
import { loopback } from '../support/loopback.ts';
import { HOST, LOOKUP, LOOKUP_UNITS, PAYEE, paidEnv, payment } from '../support/paid-fixture.ts';
import { probe } from '../support/probes.ts';
import { recordProbes } from '../support/records-fixture.ts';
import { CALLERS, load, start } from './load.ts';
import { type Bench, environmentOf, openPaper } from './paper.ts';
import { aSecond, type Figure, median } from './table.ts';

/** Payments of one measurement, and how often it is taken; the first warms. */
const PAYMENTS = 160;
const ROUNDS = 4;

/** Paid calls a second over the local chain, beside the facilitator asked by itself, and the gate with a facilitator that agrees at once. */
export async function paidPart(bench: Bench): Promise<Figure[]> {
  const folder = join(bench.folder, 'paid');
  mkdirSync(folder);
  fill(folder);
  const endings: (() => unknown)[] = [];
  const t = { after: (work: () => unknown) => void endings.unshift(work) };
  try {
    return [...(await overChain(t, folder)), await gateAlone(t, folder)];
  } finally {
    for (const end of endings) await end();
  }
}

type Scope = { after(work: () => unknown): void };

async function overChain(t: Scope, folder: string): Promise<Figure[]> {
  const chain = await startChain(t);
  const facilitator = await startFacilitator(t, chain);
  const server = await start(['records'], { ...environmentOf(folder), ...paidEnv(facilitator.url, chain.url) });
  t.after(() => server.stop());
  const direct = facilitatorClient(facilitator.url);
  const offer = {
    network: NETWORK,
    asset: NETWORK.usdc,
    payTo: PAYEE,
    units: LOOKUP_UNITS,
    resource: server.url + LOOKUP,
    description: 'One answer',
    mimeType: 'application/json',
  };
  const rounds = { ours: [] as number[], bare: [] as number[] };
  for (let round = 0; round < ROUNDS; round++) {
    const ours = await signed(chain);
    rounds.ours.push(
      await rateOf(ours, async (text) => {
        const answer = await fetch(server.url + LOOKUP, { headers: { 'X-PAYMENT': text } });
        await answer.arrayBuffer();
        if (answer.status !== 200) throw new Error(`a paid call was answered ${answer.status}`);
      }),
    );
    const bare = await signed(chain);
    rounds.bare.push(
      await rateOf(bare, async (text) => {
        const paid = decodePayment(text, 1);
        if ((await direct.verify(paid, offer)) !== 'valid') throw new Error('a payment was not valid');
        const told = await direct.settle(paid, offer);
        if (typeof told === 'string' || !('settled' in told)) throw new Error('a payment was not settled');
      }),
    );
  }
  const [ours, bare] = [median(rounds.ours.slice(1)), median(rounds.bare.slice(1))];
  return [
    {
      what: `paid calls, ${CALLERS} callers, local chain : the facilitator's verify and settle alone`,
      ours: aSecond(ours),
      other: aSecond(bare),
      ratio: ours / bare,
      budget: '',
      holds: null,
    },
  ];
}

async function gateAlone(t: Scope, folder: string): Promise<Figure> {
  const yes = JSON.stringify({ isValid: true, success: true, transaction: `0x${'ab'.repeat(32)}` });
  const agreeing = createServer((request, response) => {
    request.resume().on('end', () => response.end(yes));
  });
  const facilitator = await loopback(t, agreeing);
  const server = await start(['records'], { ...environmentOf(folder), ...paidEnv(facilitator, null) });
  t.after(() => server.stop());
  const seconds = Math.floor(Date.now() / 1_000);
  const each = () => ({ 'x-payment': unsigned(seconds) });
  const { rate, p99 } = await load({ url: server.url, paths: [LOOKUP], each });
  return {
    what: `paid calls, ${CALLERS} callers, a facilitator that agrees at once: p99`,
    ours: `${aSecond(rate)}, ${p99.toFixed(0)} ms`,
    other: '',
    ratio: null,
    budget: '',
    holds: null,
  };
}

/** Payments of as many payers as call at once. */
async function signed(chain: LocalChain): Promise<string[]> {
  const payers = await Promise.all(Array.from({ length: CALLERS }, () => chain.payer()));
  const all = Array.from({ length: PAYMENTS }, (_, n) => payment(payers[n % CALLERS] as never, LOOKUP_UNITS));
  return (await Promise.all(all)).map(({ headers }) => headers['X-PAYMENT'] ?? '');
}

/** A payment that only a facilitator would take that does not look. */
function unsigned(seconds: number): string {
  const authorization = {
    from: `0x${'b0'.repeat(20)}`,
    to: PAYEE,
    value: String(LOOKUP_UNITS),
    validAfter: '0',
    validBefore: String(seconds + 300),
    nonce: `0x${randomBytes(32).toString('hex')}`,
  };
  const payload = { signature: `0x${'d0'.repeat(65)}`, authorization };
  return Buffer.from(JSON.stringify({ x402Version: 1, scheme: 'exact', network: NETWORK.name, payload })).toString(
    'base64',
  );
}

/** How many a second are done when as many as call do one after the other. */
async function rateOf(payments: string[], pay: (text: string) => Promise<void>): Promise<number> {
  const left = [...payments];
  const began = performance.now();
  const caller = async () => {
    for (let text = left.pop(); text !== undefined; text = left.pop()) await pay(text);
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  return (payments.length / (performance.now() - began)) * 1_000;
}

function fill(folder: string): void {
  const app = openPaper(folder);
  const clock = { now: Date.now() };
  recordProbes(app, clock, [probe(HOST, clock.now, { A: ['192.0.2.1'], NS: ['ns1.example.net'] })]);
  app.close();
}
