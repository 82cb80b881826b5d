import { readName } from './name.ts';
import { OPT } from './record-type.ts';
import { WireError } from './wire-error.ts';

/** One record. Its data is bytes `start` to `end` of the message, and names in it may point back into the message. */
export interface ResourceRecord {
  /** As `readName` returns it. */
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
 * Parses an answer (RFC 1035, section 4.1). For a truncated answer it reads only the header, because the records must
 * not be used (RFC 2181, section 9). Throws a WireError.
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
