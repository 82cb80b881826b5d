import type { RecordType as PacketType } from 'dns-packet';
import { DNSSEC_OK, encode, RECURSION_DESIRED } from 'dns-packet';
import { RCODE } from './rcode.ts';
import type { RecordType } from './record-type.ts';
import { RECORD_TYPES } from './record-type.ts';

/** The largest answer by UDP that no path cuts into fragments (DNS flag day 2020). */
const UDP_SIZE = 1_232;
const HEADER = 12;

/** What is asked, and the bytes that ask it. */
export interface Question {
  /** Lower case, without the last dot. */
  name: string;
  type: RecordType;
  bytes: Uint8Array;
}

export interface Spelling {
  /** 0 to 65,535, not to be guessed. */
  id: number;
  /** Which letters are written large, a byte for eight letters; null for none. */
  mixed: Uint8Array | null;
  /** Whether EDNS is spoken (RFC 6891): its size, and that DNSSEC is understood. */
  edns: boolean;
}

/**
 * The query for a name's records of a type. With `mixed` the letters of the name
 * are large and small by chance: a forger must guess them too, since an answer
 * repeats them (draft-vixie-dnsext-dns0x20).
 */
export function writeQuestion(name: string, type: RecordType, { id, mixed, edns }: Spelling): Question {
  const bytes = encode({
    type: 'query',
    id,
    flags: RECURSION_DESIRED,
    // dns-packet knows HTTPS and SVCB by their numbers alone.
    questions: [{ name: mixed === null ? name : mixCase(name, mixed), type: packetType(type) }],
    additionals: edns
      ? [
          {
            type: 'OPT',
            name: '.',
            udpPayloadSize: UDP_SIZE,
            extendedRcode: 0,
            ednsVersion: 0,
            flags: DNSSEC_OK,
            flag_do: true,
            options: [],
          },
        ]
      : [],
  });
  return { name, type, bytes };
}

function packetType(type: RecordType): PacketType {
  return (type === 'HTTPS' || type === 'SVCB' ? `UNKNOWN_${RECORD_TYPES[type]}` : type) as PacketType;
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

/** Whether an answer is to a question: to another one, to this one in another spelling, to it, or to none because it was not understood. */
export type Match = 'other' | 'respelled' | 'same' | 'none';

/** Compares an answer's number and question with ours (RFC 5452, section 9.1). The sender is the transport's to check. */
export function matchAnswer({ bytes: ours }: Question, answer: Uint8Array): Match {
  if (answer.length < HEADER || answer[0] !== ours[0] || answer[1] !== ours[1]) return 'other';
  // Neither a query of somebody's nor another kind of operation.
  if (((answer[2] ?? 0) & 0xf8) !== 0x80) return 'other';
  const questions = ((answer[4] ?? 0) << 8) | (answer[5] ?? 0);
  if (questions === 0) {
    // A server that cannot read a question, or will not, may leave it out; one that says what there is may not.
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

/** Where the question of a query that has no pointers ends: after the name, the type and the class. */
function questionEnd(bytes: Uint8Array): number {
  let at = HEADER;
  while (bytes[at] !== 0) at += (bytes[at] ?? 0) + 1;
  return at + 5;
}

function small(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte;
}
