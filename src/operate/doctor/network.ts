import { setTimeout as pause } from 'node:timers/promises';
import * as z from 'zod';
import { createResolver } from '../../records/probe/resolver.ts';
import type { Settings } from '../../server/env.ts';
import { CLI } from '../../shared/command-line.ts';
import { codeOf, messageOf, reasonOf } from '../../shared/fault.ts';
import { smtpOf } from '../../shared/net/smtp.ts';
import { type Finding, fault, holds, open, runChecks } from './finding.ts';

/** The timeout of a mail server or a facilitator, in ms. */
const PATIENCE = 15_000;
/** A query that every Internet resolver can answer. */
const QUESTION = ['com', 'NS'] as const;

const Supported = z.object({ kinds: z.array(z.looseObject({ scheme: z.string(), network: z.string() })) });

const ChainId = z.object({ result: z.string().regex(/^0x[0-9a-f]{1,16}$/i) });

/** Checks the network services concurrently. */
export function checkNetwork(settings: Settings): Promise<Finding[]> {
  const { records } = settings.services;
  return runChecks([
    ['mail server', () => mailServer(settings)],
    ['resolver', () => resolver(settings), records],
    ['payments', () => payments(settings), records],
    ['sale of credits', () => saleOfCredits(settings), records],
  ]);
}

async function mailServer(settings: Settings) {
  const smtp = smtpOf(settings);
  if (smtp === null)
    return open('SMTP_URL is not set: mails are written to the outbox folder of DATA_DIR and not sent');
  const { host } = new URL(settings.smtpUrl ?? '');
  try {
    await Promise.race([smtp.verify(), late()]);
    return holds(`${host} accepts mail`);
  } catch (error) {
    const cure =
      codeOf(error) === 'EAUTH'
        ? 'check the user and the password of SMTP_URL'
        : 'check SMTP_URL: its host, its port, and smtps:// for implicit TLS';
    return fault(`${host}: ${messageOf(error)}`, cure);
  } finally {
    smtp.breakOff();
  }
}

async function resolver({ resolvers, resolverRate: rate }: Settings) {
  const all = createResolver({ servers: resolvers, rate });
  const { servers } = all;
  all.close();
  if (servers.length === 0) return fault('this machine has no resolver', 'set RESOLVERS, for example to 192.0.2.53');
  const said = await Promise.all(
    servers.map(async (server) => {
      const one = createResolver({ servers: [server], tries: 2 });
      try {
        const { status, rtt_ms } = await one.ask(...QUESTION);
        return { name: `${server.address}:${server.port}`, status, rtt_ms };
      } finally {
        one.close();
      }
    }),
  );
  const bad = said.filter(({ status }) => status !== 'ok');
  if (bad.length === 0) {
    return holds(said.map(({ name, rtt_ms }) => `${name} answers in ${Math.round(rtt_ms ?? 0)} ms`).join(', '));
  }
  return fault(
    bad.map(({ name, status }) => `${name} answers ${status} to ${QUESTION.join(' ')}`).join(', '),
    'set RESOLVERS to recursive resolvers that answer this machine',
  );
}

async function payments({ x402 }: Settings) {
  if (x402 === null) return open('X402_FACILITATOR_URL is not set: the paid lane is closed');
  const address = `${x402.facilitator.replace(/\/+$/, '')}/supported`;
  const cure = 'check X402_FACILITATOR_URL, and whether the facilitator serves X402_NETWORK';
  const answer = await ask(address, Supported);
  if (answer instanceof Error) return fault(`${address}: ${reasonOf(answer)}`, cure);
  const { status, isOk, data } = answer;
  if (!isOk || data === undefined) return fault(`${address} answers ${status}, and not with what it supports`, cure);
  const { name, caip2 } = x402.network;
  const isServed = data.kinds.some(
    ({ scheme, network }) => scheme === 'exact' && (network === name || network === caip2),
  );
  if (!isServed) return fault(`${address} does not serve ${name}`, cure);
  return holds(`${address} takes payments on ${name}`);
}

/** Credits are sold for transfers that the chain shows. A node's URL may contain a key, so only its host is shown. */
async function saleOfCredits({ x402 }: Settings) {
  if (x402 === null) return open(`the paid lane is closed: add credits with \`${CLI} credits add\``);
  if (x402.rpc === null) {
    return open(
      'X402_RPC_URL is not set: credits are not sold, and calls whose settlement is interrupted get no answer; set it to a node of the chain',
    );
  }
  const { host } = new URL(x402.rpc);
  const { name, caip2 } = x402.network;
  const cure = `set X402_RPC_URL to a node of ${name} that answers`;
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] });
  const request = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body };
  const answer = await ask(x402.rpc, ChainId, request);
  if (answer instanceof Error) return fault(`${host}: ${reasonOf(answer)}`, cure);
  const { status, data } = answer;
  if (data === undefined) return fault(`${host} answers ${status}, and does not say which chain it is on`, cure);
  const id = BigInt(data.result);
  if (`eip155:${id}` !== caip2) return fault(`${host} is a node of chain ${id}, and ${name} is ${caip2}`, cure);
  return holds(`${host} is a node of ${name}`);
}

/**
 * Asks for a JSON document. `data` is undefined for any other response. Returns the error when there is no response.
 */
async function ask<T>(url: string, schema: z.ZodType<T>, request: RequestInit = {}) {
  const limits = { signal: AbortSignal.timeout(PATIENCE), redirect: 'error' } as const;
  const response = await fetch(url, { ...request, ...limits }).catch((error: Error) => error);
  if (response instanceof Error) return response;
  const { data } = schema.safeParse(await response.json().catch(() => null));
  return { status: response.status, isOk: response.ok, data };
}

async function late(): Promise<never> {
  await pause(PATIENCE, undefined, { ref: false });
  throw new Error(`it did not answer within ${PATIENCE / 1_000} seconds`);
}
