/**
 * What one look at a hostname brought back. The resolver fills it, the rules of
 * observations and deltas read it, and a scanner elsewhere sends it as JSON.
 */

/** What is asked of each hostname, by the names that the wire uses. `WWW_` asks the same of `www.` before it. */
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

/** TLSA stands for TLSA at `_443._tcp.`, DMARC for TXT at `_dmarc.`. */
export type SignalType = (typeof SIGNAL_TYPES)[number];

/** Answers that say what there is: records, none of this type, no such name. */
export const KNOWN_STATUSES = ['ok', 'nodata', 'nxdomain'] as const;

/**
 * Answers that say nothing about what there is. `malformed` also stands for an
 * answer to another question, `truncated` for one that TCP did not complete
 * either, `skipped` for a question that was not asked.
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

export type KnownStatus = (typeof KNOWN_STATUSES)[number];
export type SignalStatus = KnownStatus | (typeof UNKNOWN_STATUSES)[number];

export interface Signal {
  status: SignalStatus;
  /** Seconds, the smallest of the answer's records; null without one. */
  ttl: number | null;
  /**
   * The records' data in presentation form, printable ASCII, sorted, each once: hosts in lower case without the
   * last dot; a TXT record's strings joined, without quotation marks; bytes that are not printable as `\DDD`.
   */
  values: string[];
  transport: 'udp' | 'tcp' | null;
  /** Of the attempt that was answered, in ms. */
  rtt_ms: number | null;
  flags: SignalFlags;
  /** The `ip:port` that was asked last. */
  resolver?: string;
}

/** Header bits: authoritative answer, authenticated data (RFC 4035), truncated. */
export interface SignalFlags {
  aa: boolean;
  ad: boolean;
  tc: boolean;
}

/** The certificate that a host shows on port 443 to a handshake with its name. */
export interface Certificate {
  /** Distinguished names on one line, as `CN=R11, O=Let's Encrypt, C=US`. */
  issuer: string;
  subject: string;
  /** ISO 8601, UTC, milliseconds. */
  not_before: string;
  not_after: string;
  /** SHA-256 of the DER, 64 lower-case hex digits. */
  fingerprint256: string;
  /** DNS names, in lower case, sorted, each once. */
  san: string[];
}

/** What became of the handshake. `none` is known: nothing listens or speaks TLS there. All but `ok` and `none` is unknown. */
export type CertificateStatus = 'ok' | 'none' | 'timeout' | 'error' | 'skipped';

/** One look at a hostname. */
export interface Probe {
  /** The A-label form. */
  hostname: string;
  /** When it was begun, ms since 1970. */
  at: number;
  signals: Record<SignalType, Signal>;
  /** Null unless `certificate_status` is `ok`. */
  certificate: Certificate | null;
  certificate_status: CertificateStatus;
  /** Whether there is an address, or an alias, at any name below it; null when that is unknown. */
  wildcard: boolean | null;
}

/** Whether an answer tells what there is. Whatever is not known never makes a delta. */
export function isKnown({ status }: { status: SignalStatus }): boolean {
  return (KNOWN_STATUSES as readonly string[]).includes(status);
}
