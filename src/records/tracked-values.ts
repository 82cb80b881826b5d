import { entriesOf, present } from '../proof/narrow.ts';
import {
  type Certificate,
  type CertificateStatus,
  isKnown,
  type SignalStatus,
  type SignalType,
} from '../proof/records/signal.ts';

/** The subjects of deltas: each signal, and the certificate. */
export type TrackedName = SignalType | 'CERTIFICATE';

/** The values of one probe by signal, sorted; null for a signal whose answer is unknown. */
export type TrackedValues = Partial<Record<TrackedName, string[] | null>>;

interface ProbeOrRecord {
  signals: Partial<Record<SignalType, { status: SignalStatus; values: string[] }>>;
  certificate: Certificate | null;
  certificate_status: CertificateStatus;
}

/**
 * The values that are compared with the previous probe. Leaves out what changes without an edit of the zone: TTL,
 * transport, time and flags, the serial of a SOA, and ECH keys in HTTPS and SVCB records.
 */
export function trackedValues({ signals, certificate, certificate_status }: ProbeOrRecord): TrackedValues {
  const tracked: TrackedValues = {};
  for (const [name, signal] of entriesOf(signals)) {
    const values = new Set(signal.values.map((value) => withoutVolatileParts(name, value)));
    tracked[name] = isKnown(signal) ? [...values].sort() : null;
  }
  if (certificate_status === 'ok' && certificate !== null) tracked.CERTIFICATE = [certificateText(certificate)];
  else tracked.CERTIFICATE = certificate_status === 'none' ? [] : null;
  return tracked;
}

export function withoutVolatileParts(name: TrackedName, value: string): string {
  // mname rname serial refresh retry expire minimum (RFC 1035, section 3.3.13)
  if (name === 'SOA') return value.replace(/^(\S+ \S+) \d+ /, '$1 ');
  if (name === 'HTTPS' || name === 'SVCB' || name === 'WWW_HTTPS') return value.replace(/ ech=\S+/, ' ech');
  return value;
}

/** A certificate as one value: `<fingerprint256> <not_after> <issuer>`. */
export function certificateText({ fingerprint256, not_after, issuer }: Certificate): string {
  return `${fingerprint256} ${not_after} ${issuer}`;
}

/** Parses a text made by `certificateText`; null for anything else. */
export function certificateParts(text: string): Pick<Certificate, 'fingerprint256' | 'not_after' | 'issuer'> | null {
  const match = /^([0-9a-f]{64}) (\S+) (.*)$/s.exec(text);
  return match === null
    ? null
    : { fingerprint256: present(match[1]), not_after: present(match[2]), issuer: present(match[3]) };
}
