import { randomBytes } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import type { Probe } from '../../proof/records/signal.ts';
import type { Settings } from '../../server/env.ts';
import { isPublicAddress } from '../../shared/public-address.ts';
import { type CertificateProbe, probeHostname } from './probe.ts';
import { createResolver, type Resolver, type ResolverOptions } from './resolver.ts';
import { tlsProbe } from './tls-probe.ts';

/** Probes hostnames over this machine's network. */
export interface Prober {
  /** Probes one hostname. Never rejects: failures are statuses. */
  probe(hostname: string): Promise<Probe>;
  resolver: Resolver;
  /** Ends all pending queries and handshakes at once. */
  close(): void;
}

export interface ProberOptions extends ResolverOptions {
  /** Private addresses and networks with which TLS handshakes are allowed. */
  tlsPrivate: readonly string[];
  tlsPort?: number;
  /** In ms. */
  tlsTimeout?: number;
  /** The current time, in ms. */
  now?: () => number;
}

/** A prober configured from the settings. */
export function proberOf({ resolvers, resolverRate, tlsPrivate }: Settings, now = Date.now): Prober {
  return createProber({ servers: resolvers, rate: resolverRate, tlsPrivate, now });
}

export function createProber({ tlsPrivate, tlsPort, tlsTimeout, now = Date.now, ...options }: ProberOptions): Prober {
  const resolver = createResolver(options);
  const shake = tlsProbe({ allows: allowing(tlsPrivate), port: tlsPort, timeout: tlsTimeout });
  let isOpen = true;
  const handshake = async (hostname: string, addresses: readonly string[]): Promise<CertificateProbe> =>
    isOpen ? shake(hostname, addresses) : { certificate: null, certificate_status: 'skipped' };
  const randomLabel = () => randomBytes(10).toString('hex');
  return {
    probe: (hostname) => probeHostname(hostname, { ask: resolver.ask, handshake, now, randomLabel }),
    resolver,
    close() {
      isOpen = false;
      resolver.close();
    },
  };
}

/** Returns a filter that allows public addresses and those in these networks. */
export function allowing(networks: readonly string[]): (address: string) => boolean {
  const inside = networks.map((network) => (network.includes('/') ? ipaddr.parseCIDR(network) : oneOf(network)));
  return (address) => {
    if (isPublicAddress(address)) return true;
    if (!ipaddr.isValid(address)) return false;
    const read = ipaddr.process(address);
    return inside.some(([network, bits]) => network.kind() === read.kind() && read.match(network, bits));
  };
}

/** A single address as a network. */
function oneOf(address: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  const read = ipaddr.process(address);
  return [read, read.kind() === 'ipv4' ? 32 : 128];
}
