import { escapeLabel } from './escape.ts';

/** One record. Its data is bytes `start` to `end` of the message, and names in it may point back into the message. */
export interface ResourceRecord {
  owner: string;
  type: number;
  /** In seconds. */
  ttl: number;
  start: number;
  end: number;
}

/** The parts of a message that a client needs. Only records of class IN are included. */
export interface Message {
  /** Includes the upper bits from EDNS. */
  rcode: number;
  aa: boolean;
  tc: boolean;
  ra: boolean;
  ad: boolean;
  answers: ResourceRecord[];
  authorities: ResourceRecord[];
}

const CLASS_IN = 1;
const HEADER = 12;
/** The largest TTL (RFC 2181, section 8). A TTL with the top bit set counts as 0. */
const TTL_MAX = 0x7fff_ffff;

/**
 * Parses an answer (RFC 1035, section 4.1); of a truncated one only the header (RFC 2181, section 9). Throws a
 * WireError.
 */
export function readMessage(bytes: Uint8Array): Message {
  if (bytes.length < HEADER) throw new WireError('shorter than a header');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const bits = view.getUint16(2);
  if ((bits & 0x8000) === 0) throw new WireError('not an answer');
  const message: Message = {
    rcode: bits & 0x000f,
    aa: (bits & 0x0400) !== 0,
    tc: (bits & 0x0200) !== 0,
    ra: (bits & 0x0080) !== 0,
    ad: (bits & 0x0020) !== 0,
    answers: [],
    authorities: [],
  };
  if (message.tc) return message;
  let at = HEADER;
  for (let left = view.getUint16(4); left > 0; left--) at = readName(bytes, at).end + 4;
  for (const [section, offset] of [
    [message.answers, 6],
    [message.authorities, 8],
    [null, 10],
  ] as const) {
    for (let left = view.getUint16(offset); left > 0; left--) {
      const { name: owner, end } = readName(bytes, at);
      const start = end + 10;
      if (start > bytes.length) throw new WireError('a record runs past the end');
      const type = view.getUint16(end);
      const ttl = view.getUint32(end + 4);
      at = start + view.getUint16(end + 8);
      if (at > bytes.length) throw new WireError('data runs past the end');
      // RFC 6891, section 6.1.3: the OPT record's TTL begins with the upper bits of the code.
      if (type === OPT && section === null) message.rcode |= (ttl >>> 24) << 4;
      else if (section !== null && view.getUint16(end + 2) === CLASS_IN) {
        section.push({ owner, type, ttl: ttl > TTL_MAX ? 0 : ttl, start, end: at });
      }
    }
  }
  return message;
}

/** The most octets of a name with its length bytes (RFC 1035, section 2.3.4). */
const LONGEST_NAME = 255;
/** A name has at most 127 labels, and no writer needs more pointers than labels. */
const MOST_POINTERS = 127;

interface ReadName {
  /** Lower case, without a trailing dot, with special bytes escaped; the root is `.`. */
  name: string;
  end: number;
}

/**
 * Parses a name, compressed or not (RFC 1035, section 4.1.4). A pointer must lead to an offset before the part of the
 * name that it continues, which rules out loops. Throws a WireError.
 */
export function readName(bytes: Uint8Array, start: number): ReadName {
  const labels: string[] = [];
  let octets = 1;
  let pointers = 0;
  let end: number | null = null;
  let part = start;
  let at = start;
  for (;;) {
    const size = bytes[at];
    if (size === undefined) throw new WireError('a name runs past the end');
    if (size === 0) return { name: labels.join('.') || '.', end: end ?? at + 1 };
    if (size >= 0xc0) {
      const low = bytes[at + 1];
      if (low === undefined) throw new WireError('a pointer runs past the end');
      const target = ((size & 0x3f) << 8) | low;
      if (target >= part || ++pointers > MOST_POINTERS) throw new WireError('a pointer leads nowhere');
      end ??= at + 2;
      part = target;
      at = target;
      continue;
    }
    if (size > 63) throw new WireError('a label of an unknown kind');
    octets += size + 1;
    if (octets > LONGEST_NAME) throw new WireError('a name is too long');
    if (at + 1 + size > bytes.length) throw new WireError('a label runs past the end');
    labels.push(escapeLabel(bytes.subarray(at + 1, at + 1 + size)));
    at += size + 1;
  }
}

/** Response codes (RFC 1035, section 4.1.1; RFC 6891, section 9). */
export const RCODE = { noError: 0, formErr: 1, servFail: 2, nxDomain: 3, notImp: 4, refused: 5, badVers: 16 } as const;

/** The bytes are not a DNS message, or not a record of the expected type. Never leaves `readAnswer`. */
export class WireError extends Error {}

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
