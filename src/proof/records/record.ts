import type { Certificate, CertificateStatus, Signal } from './signal.ts';

export interface ServiceSeen {
  service: string;
  /** `mail`, `dns`, `hosting`…, as in the service table. */
  kind: string;
  seen_in: string[];
}

/** A signal as in the signed record, without the resolver, which only concerns the operator. */
export type RecordSignal = Omit<Signal, 'resolver'>;

/** The signed part of a probe (protocol 5.1): named fields, each of which can be disclosed separately. */
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

export function signalsOf(record: DomainRecord): Record<string, RecordSignal> {
  return Object.fromEntries(
    Object.entries(record)
      .filter(([name]) => name.startsWith('signals.'))
      .map(([name, value]) => [name.slice('signals.'.length), value as RecordSignal]),
  );
}
