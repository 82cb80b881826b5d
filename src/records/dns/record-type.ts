/** The record types that are queried, by their numbers in the IANA registry. */
export const RECORD_TYPES = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  DS: 43,
  DNSKEY: 48,
  TLSA: 52,
  SVCB: 64,
  HTTPS: 65,
  CAA: 257,
} as const;

export type RecordType = keyof typeof RECORD_TYPES;
export type RecordTypeNumber = (typeof RECORD_TYPES)[RecordType];

/** The pseudo-record that carries EDNS (RFC 6891). */
export const OPT = 41;
