import { OPT, RCODE, RECORD_TYPES, type RecordType } from './message.ts';

/** The largest UDP answer that no common path fragments (DNS flag day 2020). */
const UDP_SIZE = 1_232;
const HEADER = 12;
/** The RD flag (RFC 1035, section 4.1.1). */
const RECURSION_DESIRED = 0x0100;
const CLASS_IN = 1;
/** The EDNS OPT record: our UDP size, version 0, and the DO bit (RFC 6891, section 6.1). */
const EDNS = Buffer.from([0, OPT >> 8, OPT & 0xff, UDP_SIZE >> 8, UDP_SIZE & 0xff, 0, 0, 0x80, 0, 0, 0]);

export interface Question {
  /** Lower case, without a trailing dot. */
  name: string;
  type: RecordType;
  bytes: Uint8Array;
}

export interface Spelling {
  /** 0 to 65,535, unpredictable. */
  id: number;
  /** Which letters are upper-case, one bit each; null for all lower-case. */
  mixed: Uint8Array | null;
  edns: boolean;
}

/**
 * Encodes a query (RFC 1035, section 4.1) for a name of labels of 1 to 63 ASCII characters. With `mixed`, letters have
 * random case, which an answer must repeat and a forger must guess (draft-vixie-dnsext-dns0x20).
 */
export function writeQuestion(name: string, type: RecordType, { id, mixed, edns }: Spelling): Question {
  const bytes = Buffer.alloc(HEADER + name.length + 2 + 4 + (edns ? EDNS.length : 0));
  bytes.writeUInt16BE(id, 0);
  bytes.writeUInt16BE(RECURSION_DESIRED, 2);
  bytes.writeUInt16BE(1, 4);
  bytes.writeUInt16BE(edns ? 1 : 0, 10);
  let at = HEADER;
  for (const label of (mixed === null ? name : mixCase(name, mixed)).split('.')) {
    bytes[at] = label.length;
    at += 1 + bytes.write(label, at + 1, 'latin1');
  }
  at = bytes.writeUInt16BE(RECORD_TYPES[type], at + 1);
  at = bytes.writeUInt16BE(CLASS_IN, at);
  if (edns) bytes.set(EDNS, at);
  return { name, type, bytes };
}

function mixCase(name: string, mixed: Uint8Array): string {
  let text = '';
  for (let index = 0; index < name.length; index++) {
    const letter = name.charAt(index);
    const bit = ((mixed[(index >> 3) % mixed.length] ?? 0) >> (index & 7)) & 1;
    text += bit === 1 ? letter.toUpperCase() : letter;
  }
  return text;
}

/**
 * The question in an answer: a different one, ours in different case, ours exactly, or none, when the server did not
 * parse ours.
 */
export type Match = 'other' | 'respelled' | 'same' | 'none';

/** Compares the ID and question of an answer with ours (RFC 5452, section 9.1). The transport checks the sender. */
export function matchAnswer({ bytes: ours }: Question, answer: Uint8Array): Match {
  if (answer.length < HEADER || answer[0] !== ours[0] || answer[1] !== ours[1]) return 'other';
  // It must be a response, with the opcode QUERY.
  if (((answer[2] ?? 0) & 0xf8) !== 0x80) return 'other';
  const questions = ((answer[4] ?? 0) << 8) | (answer[5] ?? 0);
  if (questions === 0) {
    // A server that cannot or will not parse a question may omit it. A server that states what exists must repeat it.
    const rcode = (answer[3] ?? 0) & 0x0f;
    return rcode === RCODE.noError || rcode === RCODE.nxDomain ? 'other' : 'none';
  }
  if (questions !== 1) return 'other';
  const end = questionEnd(ours);
  if (answer.length < end) return 'other';
  let match: Match = 'same';
  for (let at = HEADER; at < end; at++) {
    const [a, b] = [ours[at] ?? 0, answer[at] ?? 0];
    if (a === b) continue;
    if (at >= end - 4 || small(a) !== small(b)) return 'other';
    match = 'respelled';
  }
  return match;
}

/** The offset after the question of a query without compression: after the name, the type and the class. */
function questionEnd(bytes: Uint8Array): number {
  let at = HEADER;
  while (bytes[at] !== 0) at += (bytes[at] ?? 0) + 1;
  return at + 5;
}

function small(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte;
}
