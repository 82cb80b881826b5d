import { isoTime } from '../time.ts';
import type { Hostname } from './hostname.ts';
import type { ServiceSeen } from './services.ts';
import { servicesSeen } from './services.ts';
import type { Certificate, CertificateStatus, Probe, Signal, SignalStatus } from './signal.ts';
import { isKnown } from './signal.ts';

/** A signal as in the signed record, without the resolver, which only concerns the operator. */
export type RecordSignal = Omit<Signal, 'resolver'>;

/**
 * The signed part of a probe (protocol 5.1): a flat list of named fields, each of which can be disclosed separately.
 */
export interface DomainRecord {
  certificate: Certificate | null;
  certificate_status: CertificateStatus;
  domain: string;
  /** ISO 8601, UTC, milliseconds. */
  observed_at: string;
  registrable_domain: string | null;
  services: ServiceSeen[];
  /** The number of values by type. Types whose answer is unknown are omitted. */
  summary: Record<string, number>;
  unicode: string;
  wildcard: boolean | null;
  /** One for each queried type, named `signals.<TYPE>`. */
  [signal: `signals.${string}`]: RecordSignal;
}

/** Builds the record of a probe, with the time that its receipt will state. */
export function recordOf(probe: Probe, host: Hostname, observed_at: number): DomainRecord {
  const signals = Object.entries(probe.signals).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    certificate: probe.certificate,
    certificate_status: probe.certificate_status,
    domain: host.hostname,
    observed_at: isoTime(observed_at),
    registrable_domain: host.registrable_domain,
    services: servicesSeen(probe),
    ...Object.fromEntries(
      signals.map(([type, { status, ttl, values, transport, rtt_ms, flags }]) => [
        `signals.${type}`,
        { status, ttl, values, transport, rtt_ms: rtt_ms === null ? null : Math.round(rtt_ms), flags },
      ]),
    ),
    summary: summaryOf(probe.signals),
    unicode: host.unicode,
    wildcard: probe.wildcard,
  };
}

/** The number of values by type, for the types whose answer is known. */
export function summaryOf(signals: Record<string, { status: SignalStatus; values: string[] }>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(signals)
      .filter(([, signal]) => isKnown(signal))
      .map(([type, { values }]) => [type, values.length]),
  );
}

/** A record's signals by type. */
export function signalsOf(record: DomainRecord): Record<string, RecordSignal> {
  return Object.fromEntries(
    Object.entries(record)
      .filter(([name]) => name.startsWith('signals.'))
      .map(([name, value]) => [name.slice('signals.'.length), value as RecordSignal]),
  );
}
