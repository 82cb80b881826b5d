import { entriesOf } from '../../proof/narrow.ts';
import type { Certificate, CertificateStatus, Probe, Signal, SignalType } from '../../proof/records/signal.ts';
import type { Ask } from './dns/ask.ts';
import type { RecordType } from './dns/message.ts';

/** The query for each signal: a prefix of the hostname, and the record type. */
const QUESTIONS: Record<SignalType, readonly [before: string, type: RecordType]> = {
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

/** The certificate that a host presents, or why there is none. */
export interface CertificateProbe {
  certificate: Certificate | null;
  certificate_status: CertificateStatus;
}

/** Makes a TLS handshake with one of the addresses, using the host's name. Never rejects. */
export type Handshake = (hostname: string, addresses: readonly string[]) => Promise<CertificateProbe>;

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
