import { randomBytes } from 'node:crypto';
import { getServers } from 'node:dns';
import ipaddr from 'ipaddr.js';
import type { Ask } from '../records/dns/ask.ts';
import { createAsk } from '../records/dns/ask.ts';
import { parseServer } from '../records/dns/server.ts';
import type { Server } from '../records/dns/transport.ts';
import { Upstream } from '../records/dns/upstream.ts';
import { sendTcp } from './dns-tcp.ts';
import { createUdp } from './dns-udp.ts';

/** Queries a second to a resolver that is not on this machine: public ones turn away more. */
const RATE = 1_000;
/**
 * Queries that wait for one resolver at a time. A burst of more does not fit the
 * 208 kB that Linux keeps for a socket by default: each datagram takes 768 bytes.
 */
const IN_FLIGHT = 200;

export interface ResolverOptions {
  /** Whom to ask; the system's resolvers when there are none. */
  servers: readonly Server[];
  /** Queries a second to each; without it 1,000, and no limit to one on this machine. */
  rate?: number | undefined;
  tries?: number;
  /** How long the first answer is waited for, in ms. */
  firstWait?: number;
}

/** A client of resolvers over this machine's network. `close` ends what waits. */
export interface Resolver {
  ask: Ask;
  servers: readonly Server[];
  close(): void;
}

export function createResolver({ servers, rate, ...options }: ResolverOptions): Resolver {
  const resolvers = servers.length > 0 ? servers : systemServers();
  const udp = createUdp();
  const now = () => performance.now();
  const sleep = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));
  const upstreams = resolvers.map((server) => {
    const limits = { rate: rate ?? (isHere(server) ? Number.POSITIVE_INFINITY : RATE), inFlight: IN_FLIGHT };
    return new Upstream(server, limits, now, sleep);
  });
  const transport = { udp: udp.send, tcp: sendTcp };
  const ask = createAsk({ upstreams, transport, randomBytes: pooledRandomBytes(), sleep, ...options });
  return { ask, servers: resolvers, close: () => udp.close() };
}

function systemServers(): Server[] {
  return getServers()
    .map(parseServer)
    .filter((server) => server !== null);
}

function isHere({ address }: Server): boolean {
  return ipaddr.process(address).range() === 'loopback';
}

/** Random bytes from a store that is filled for many queries at a time: a call for each costs more than the query. */
function pooledRandomBytes(): (length: number) => Uint8Array {
  let store = Buffer.alloc(0);
  return (length) => {
    if (store.length < length) store = randomBytes(8_192);
    const taken = store.subarray(0, length);
    store = store.subarray(length);
    return taken;
  };
}
