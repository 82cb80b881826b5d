import type { Certificate, CertificateStatus, SignalStatus, SignalType } from './signal.ts';
import { isKnown } from './signal.ts';

/** What deltas are about: each signal, and the certificate. */
export type TrackedName = SignalType | 'CERTIFICATE';

/** The known value sets of one look, sorted; null where the look does not know. */
export type TrackedValues = Partial<Record<TrackedName, string[] | null>>;

/** What a look, and a record that was made of one, both have. */
interface ProbeOrRecord {
  signals: Record<string, { status: SignalStatus; values: string[] }>;
  certificate: Certificate | null;
  certificate_status: CertificateStatus;
}

/**
 * What of a look is compared with the one before. TTL, transport, time and flags
 * are not: they change without anybody changing the zone. Nor is what turns by
 * itself: a SOA's serial, and the ECH keys in HTTPS and SVCB records.
 */
export function trackedValues({ signals, certificate, certificate_status }: ProbeOrRecord): TrackedValues {
  const tracked: TrackedValues = {};
  for (const [type, signal] of Object.entries(signals)) {
    const name = type as SignalType;
    tracked[name] = isKnown(signal) ? distinct(signal.values.map((value) => withoutVolatileParts(name, value))) : null;
  }
  if (certificate_status === 'ok' && certificate !== null) tracked.CERTIFICATE = [certificateText(certificate)];
  else tracked.CERTIFICATE = certificate_status === 'none' ? [] : null;
  return tracked;
}

function withoutVolatileParts(name: TrackedName, value: string): string {
  // mname rname serial refresh retry expire minimum (RFC 1035, section 3.3.13)
  if (name === 'SOA') return value.replace(/^(\S+ \S+) \d+ /, '$1 ');
  if (name === 'HTTPS' || name === 'SVCB' || name === 'WWW_HTTPS') return value.replace(/ ech=\S+/, ' ech');
  return value;
}

function distinct(values: string[]): string[] {
  return [...new Set(values)].sort();
}

/** A certificate as one value: `<fingerprint256> <not_after> <issuer>`. */
export function certificateText({ fingerprint256, not_after, issuer }: Certificate): string {
  return `${fingerprint256} ${not_after} ${issuer}`;
}

/** The parts of such a value; null when it is none. */
export function certificateParts(text: string): Pick<Certificate, 'fingerprint256' | 'not_after' | 'issuer'> | null {
  const match = /^([0-9a-f]{64}) (\S+) (.*)$/s.exec(text);
  return match === null
    ? null
    : { fingerprint256: match[1] as string, not_after: match[2] as string, issuer: match[3] as string };
}
