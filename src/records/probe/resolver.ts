import { randomFillSync } from 'node:crypto';
import { getServers } from 'node:dns';
import ipaddr from 'ipaddr.js';
import { type Ask, createAsk } from './dns/ask.ts';
import { parseServer, type Server, Upstream } from './dns/upstream.ts';
import { createUdp, sendTcp } from './dns-transport.ts';

/** Queries per second to a resolver on another machine. Public resolvers reject more. */
const RATE = 1_000;
/**
 * Concurrent queries to one resolver. More responses could overflow Linux's default socket buffer of 208 kB, in which
 * each datagram takes 768 bytes.
 */
const IN_FLIGHT = 200;

/** How many random bytes are fetched at a time. A query needs 34, and fetching so few takes as long. */
const RANDOM_POOL = 4_096;

export interface ResolverOptions {
  /** The resolvers; empty for those of the system. */
  servers: readonly Server[];
  /** Queries per second to each resolver: 1,000 by default, unlimited for a resolver on this machine. */
  rate?: number | undefined;
  tries?: number;
  /** The timeout of the first attempt, in ms. */
  firstWait?: number;
}

/** Returns random bytes, each only once. */
function pooledRandom(): (length: number) => Uint8Array {
  const pool = new Uint8Array(RANDOM_POOL);
  let used = RANDOM_POOL;
  return (length) => {
    if (used + length > RANDOM_POOL) {
      randomFillSync(pool);
      used = 0;
    }
    used += length;
    return pool.slice(used - length, used);
  };
}

/** A client of resolvers over this machine's network. `close` ends pending queries. */
export interface Resolver {
  ask: Ask;
  servers: readonly Server[];
  close(): void;
}

export function createResolver({ servers, rate, ...options }: ResolverOptions): Resolver {
  const resolvers = servers.length > 0 ? servers : getServers().flatMap((text) => parseServer(text) ?? []);
  const udp = createUdp();
  const now = () => performance.now();
  const sleep = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));
  const upstreams = resolvers.map((server) => {
    const isHere = ipaddr.process(server.address).range() === 'loopback';
    const limits = { rate: rate ?? (isHere ? Number.POSITIVE_INFINITY : RATE), inFlight: IN_FLIGHT };
    return new Upstream(server, limits, now, sleep);
  });
  const transport = { udp: udp.send, tcp: sendTcp };
  const ask = createAsk({ upstreams, transport, randomBytes: pooledRandom(), sleep, ...options });
  return { ask, servers: resolvers, close: () => udp.close() };
}
