import { isOneOf } from '../narrow.ts';

/**
 * The questions about each hostname, under their wire names (protocol 5.2). `WWW_` asks about the name below `www.`.
 */
export const SIGNAL_TYPES = [
  'A',
  'AAAA',
  'CNAME',
  'NS',
  'SOA',
  'MX',
  'TXT',
  'CAA',
  'DS',
  'DNSKEY',
  'HTTPS',
  'SVCB',
  'TLSA',
  'DMARC',
  'WWW_A',
  'WWW_AAAA',
  'WWW_CNAME',
  'WWW_HTTPS',
] as const;

/** TLSA means TLSA at `_443._tcp.`, and DMARC means TXT at `_dmarc.`. */
export type SignalType = (typeof SIGNAL_TYPES)[number];

/** Answers that state what exists: records, no records of this type, no such name. */
export const KNOWN_STATUSES = ['ok', 'nodata', 'nxdomain'] as const;

/**
 * `malformed` includes an answer to another question; `truncated` means that TCP gave no complete answer either;
 * `skipped` means that the question was not asked.
 */
export const UNKNOWN_STATUSES = [
  'servfail',
  'refused',
  'notimp',
  'timeout',
  'unreachable',
  'malformed',
  'truncated',
  'loop',
  'too_many',
  'skipped',
  'error',
] as const;

type KnownStatus = (typeof KNOWN_STATUSES)[number];
export type SignalStatus = KnownStatus | (typeof UNKNOWN_STATUSES)[number];

export interface Signal {
  status: SignalStatus;
  /** The smallest TTL in the answer, in seconds; null without records. */
  ttl: number | null;
  /**
   * In presentation format: printable ASCII, sorted, without duplicates. Hosts are in lower case without the trailing
   * dot, the strings of a TXT record are joined, and other bytes are `\DDD`.
   */
  values: string[];
  transport: 'udp' | 'tcp' | null;
  /** The round-trip time of the answered attempt, in ms. */
  rtt_ms: number | null;
  flags: SignalFlags;
  /** The `ip:port` of the last resolver that was queried. */
  resolver?: string;
}

/** Header bits: authoritative answer, authenticated data (RFC 4035), truncated. */
interface SignalFlags {
  aa: boolean;
  ad: boolean;
  tc: boolean;
}

/** The certificate that a host presents on port 443 in a handshake with its name. */
export interface Certificate {
  /** Distinguished names in one line, such as `CN=R11, O=Let's Encrypt, C=US`. */
  issuer: string;
  subject: string;
  /** ISO 8601, UTC, milliseconds. */
  not_before: string;
  not_after: string;
  /** SHA-256 of the DER, 64 lower-case hex digits. */
  fingerprint256: string;
  /** DNS names, in lower case, sorted, without duplicates. */
  san: string[];
}

/** The outcome of the handshake. `none`: nothing listens or speaks TLS there. All others except `ok` are unknown. */
export type CertificateStatus = 'ok' | 'none' | 'timeout' | 'error' | 'skipped';

export interface Probe {
  hostname: string;
  /** When the probe began, in ms since 1970. */
  at: number;
  signals: Record<SignalType, Signal>;
  /** Null unless `certificate_status` is `ok`. */
  certificate: Certificate | null;
  certificate_status: CertificateStatus;
  /** Whether every name below it has an address or an alias; null when unknown. */
  wildcard: boolean | null;
}

/** Whether an answer states what exists. An unknown answer never causes a delta. */
export function isKnown({ status }: { status: SignalStatus }): boolean {
  return isOneOf(KNOWN_STATUSES, status);
}
