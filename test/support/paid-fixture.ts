import { randomBytes } from 'node:crypto';
import type { Hex } from 'viem';
import { requirementsV2 } from '../../src/records/meter/offer.ts';
import { ASSET, type Authorization, type LocalChain, NETWORK, type Payer, sign, startChain } from './chain.ts';
import { startFacilitator, type TestFacilitator } from './facilitator.ts';
import { probe } from './probes.ts';
import { type RecordsStand, recordsStand } from './records-fixture.ts';

/** The payee in tests. */
export const PAYEE = '0x00000000000000000000000000000000000a11ce';

/** The hosts with records, and the default price of a read. */
export const HOST = 'example.org';
export const LOOKUP = `/v1/domains/${HOST}`;
export const LOOKUP_UNITS = 1_000;
export const LIST_UNITS = 5_000;

export interface PaidStand extends RecordsStand {
  chain: LocalChain;
  facilitator: TestFacilitator;
}

interface Scope {
  after(work: () => unknown): void;
}

/** The settings that open the paid lane. */
export function paidEnv(facilitator: string, rpc: string | null): Record<string, string> {
  return {
    X402_FACILITATOR_URL: facilitator,
    X402_PAY_TO: PAYEE,
    X402_NETWORK: NETWORK.name,
    X402_ASSET: ASSET,
    ...(rpc === null ? {} : { X402_RPC_URL: rpc }),
  };
}

/** A chain, a facilitator, and domain records that sell single calls. With `node: false` they cannot see the chain. */
export async function paidStand(t: Scope, { node = true, more = {} } = {}): Promise<PaidStand> {
  const endings: (() => unknown)[] = [];
  const inside = { after: (work: () => unknown) => void endings.unshift(work) };
  t.after(async () => {
    for (const end of endings) await end();
  });
  const chain = await startChain(inside);
  const facilitator = await startFacilitator(inside, chain);
  // The chain uses the machine's clock, and the validity of payments depends on it.
  const stand = await recordsStand(
    inside,
    { ...paidEnv(facilitator.url, node ? chain.url : null), ...more },
    Date.now(),
  );
  stand.enter(probe(HOST, stand.clock.now, { A: ['192.0.2.1'], NS: ['ns1.example.net'] }));
  return { ...stand, chain, facilitator };
}

/** The members of a payment that differ from the default. */
export interface Odd extends Partial<Authorization> {
  version?: 1 | 2;
  signature?: Hex;
  network?: string;
  scheme?: string;
  accepted?: Record<string, unknown>;
}

export interface Signed {
  authorization: Authorization;
  signature: Hex;
  headers: Record<string, string>;
}

/** A payment as a client makes it, with overrides, and its header. */
export async function payment(payer: Payer, units: number, odd: Odd = {}): Promise<Signed> {
  const { version = 1, signature: given, network, scheme = 'exact', accepted, ...more } = odd;
  const seconds = Math.floor(Date.now() / 1_000);
  const authorization: Authorization = {
    from: payer.address,
    to: PAYEE,
    value: String(units),
    validAfter: String(seconds - 600),
    validBefore: String(seconds + 300),
    nonce: `0x${randomBytes(32).toString('hex')}`,
    ...more,
  };
  const signature = given ?? (await sign(payer, authorization));
  const payload = { signature, authorization };
  if (version === 1) {
    const body = { x402Version: 1, scheme, network: network ?? NETWORK.name, payload };
    return { authorization, signature, headers: { 'X-PAYMENT': encoded(body) } };
  }
  const terms = {
    network: NETWORK,
    asset: NETWORK.usdc,
    payTo: PAYEE,
    units,
    resource: '',
    description: '',
    mimeType: '',
  };
  const taken = { ...requirementsV2(terms), scheme, network: network ?? NETWORK.caip2, ...accepted };
  const headers = { 'PAYMENT-SIGNATURE': encoded({ x402Version: 2, accepted: taken, payload }) };
  return { authorization, signature, headers };
}

export function encoded(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64');
}

export function decoded(header: unknown): Record<string, unknown> {
  return JSON.parse(Buffer.from(String(header), 'base64').toString());
}
