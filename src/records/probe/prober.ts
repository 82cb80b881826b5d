import { randomBytes } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import { entriesOf } from '../../proof/narrow.ts';
import type { Probe, Signal, SignalType } from '../../proof/records/signal.ts';
import type { Settings } from '../../server/env.ts';
import { isDemonstration } from '../../shared/demonstration.ts';
import { isPublicAddress } from '../../shared/public-address.ts';
import { demoCertificate } from './demo-certificates.ts';
import type { Ask } from './dns/ask.ts';
import type { RecordType } from './dns/message.ts';
import { createResolver, type Resolver, type ResolverOptions } from './resolver.ts';
import { type CertificateProbe, type Handshake, tlsProbe } from './tls-probe.ts';

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
  /** The current time, in ms. */
  now?: () => number;
  /** Replaces handshakes over the network, for tests. */
  shake?: Handshake;
}

/** A prober configured from the settings. */
export function proberOf(settings: Settings, now = Date.now): Prober {
  const { resolvers, resolverRate, tlsPrivate } = settings;
  const invented = { shake: async (hostname: string) => demoCertificate(hostname, now()) };
  const shakes = isDemonstration(settings) ? invented : {};
  return createProber({ servers: resolvers, rate: resolverRate, tlsPrivate, now, ...shakes });
}

export function createProber({
  tlsPrivate,
  tlsPort,
  now = Date.now,
  shake = tlsProbe({ allows: allowing(tlsPrivate), port: tlsPort }),
  ...options
}: ProberOptions): Prober {
  const resolver = createResolver(options);
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

/** The query for each signal: a prefix of the hostname, and the record type. */
export const QUESTIONS: Record<SignalType, readonly [before: string, type: RecordType]> = {
  A: ['', 'A'],
  AAAA: ['', 'AAAA'],
  CNAME: ['', 'CNAME'],
  NS: ['', 'NS'],
  SOA: ['', 'SOA'],
  MX: ['', 'MX'],
  TXT: ['', 'TXT'],
  CAA: ['', 'CAA'],
  DS: ['', 'DS'],
  DNSKEY: ['', 'DNSKEY'],
  HTTPS: ['', 'HTTPS'],
  SVCB: ['', 'SVCB'],
  TLSA: ['_443._tcp.', 'TLSA'],
  DMARC: ['_dmarc.', 'TXT'],
  WWW_A: ['www.', 'A'],
  WWW_AAAA: ['www.', 'AAAA'],
  WWW_CNAME: ['www.', 'CNAME'],
  WWW_HTTPS: ['www.', 'HTTPS'],
};

interface ProbeOptions {
  ask: Ask;
  handshake: Handshake;
  now(): number;
  /** A random label of about 20 letters and digits, which nobody has registered. */
  randomLabel(): string;
}

/** Probes every type, the wildcard, and the certificate. `hostname` is in A-labels without a trailing dot. */
export async function probeHostname(
  hostname: string,
  { ask, handshake, now, randomLabel }: ProbeOptions,
): Promise<Probe> {
  const at = now();
  const entries = entriesOf(QUESTIONS);
  const asked = new Map(entries.map(([signal, [before, type]]) => [signal, ask(before + hostname, type)]));
  const wildcard = wildcardOf(`${randomLabel()}.${hostname}`, ask);
  const addresses = await Promise.all([asked.get('A'), asked.get('AAAA')]);
  const shown = certificateOf(
    hostname,
    addresses.filter((signal) => signal !== undefined),
    handshake,
  );
  const signals = await Promise.all([...asked].map(async ([name, answer]) => [name, await answer] as const));
  return {
    hostname,
    at,
    signals: Object.fromEntries(signals) as Probe['signals'],
    ...(await shown),
    wildcard: await wildcard,
  };
}

/** Whether a random name below the host has an address or an alias; null when unknown. */
async function wildcardOf(name: string, ask: Ask): Promise<boolean | null> {
  const address = await ask(name, 'A');
  if (address.status === 'ok') return true;
  if (address.status === 'nxdomain') return false;
  const alias = await ask(name, 'CNAME');
  if (alias.status === 'ok') return true;
  return alias.status === 'nxdomain' || (alias.status === 'nodata' && address.status === 'nodata') ? false : null;
}

async function certificateOf(hostname: string, signals: Signal[], handshake: Handshake): Promise<CertificateProbe> {
  const addresses = signals.flatMap(({ values }) => values);
  if (addresses.length > 0) return handshake(hostname, addresses);
  // A host that is known to have no address has no certificate. A host whose addresses are unknown may have one.
  const isKnown = signals.every(({ status }) => status === 'nodata' || status === 'nxdomain');
  return { certificate: null, certificate_status: isKnown ? 'none' : 'skipped' };
}
