import { escapeBare, escapeQuoted, escapeText } from './escape.ts';
import type { ResourceRecord } from './message.ts';
import { readName } from './name.ts';
import type { RecordTypeNumber } from './record-type.ts';
import { RECORD_TYPES } from './record-type.ts';
import { addressText, svcbText } from './svcb.ts';
import { WireError } from './wire-error.ts';

/** A reader of a record's data. */
class Data {
  readonly bytes: Uint8Array;
  readonly end: number;
  #at: number;

  constructor(bytes: Uint8Array, { start, end }: ResourceRecord) {
    this.bytes = bytes;
    this.end = end;
    this.#at = start;
  }

  take(length: number): Uint8Array {
    const start = this.#at;
    if (start + length > this.end) throw new WireError('data is too short');
    this.#at += length;
    return this.bytes.subarray(start, this.#at);
  }

  rest(): Uint8Array {
    return this.take(this.end - this.#at);
  }

  number(octets: 1 | 2 | 4): number {
    return this.take(octets).reduce((value, byte) => value * 256 + byte, 0);
  }

  string(): Uint8Array {
    return this.take(this.number(1));
  }

  name(): string {
    const { name, end } = readName(this.bytes, this.#at);
    this.take(end - this.#at);
    return name;
  }

  get isRead(): boolean {
    return this.#at === this.end;
  }
}

/**
 * A record's data as canonical text: hosts in lower case without a trailing dot, digests in upper-case hex, keys in
 * base64, the strings of a TXT record joined (RFC 7208, section 3.3). Throws a WireError.
 */
export function dataText(bytes: Uint8Array, record: ResourceRecord): string {
  const data = new Data(bytes, record);
  const text = textOf(data, record);
  if (!data.isRead) throw new WireError('data is too long');
  return text;
}

function textOf(data: Data, { type, start, end }: ResourceRecord): string {
  const queried = type as RecordTypeNumber;
  switch (queried) {
    case RECORD_TYPES.A:
      return addressText(data.take(4));
    case RECORD_TYPES.AAAA:
      return addressText(data.take(16));
    case RECORD_TYPES.NS:
    case RECORD_TYPES.CNAME:
      return data.name();
    case RECORD_TYPES.MX:
      return `${data.number(2)} ${data.name()}`;
    case RECORD_TYPES.SOA:
      return [data.name(), data.name(), ...Array.from({ length: 5 }, () => data.number(4))].join(' ');
    case RECORD_TYPES.TXT: {
      // A TXT record has at least one string (RFC 1035, section 3.3.14).
      let text = escapeText(data.string());
      while (!data.isRead) text += escapeText(data.string());
      return text;
    }
    case RECORD_TYPES.CAA:
      return `${data.number(1)} ${escapeBare(data.string()).toLowerCase()} ${escapeQuoted(data.rest())}`;
    case RECORD_TYPES.DS:
      return `${data.number(2)} ${data.number(1)} ${data.number(1)} ${hex(data.rest())}`;
    case RECORD_TYPES.TLSA:
      return `${data.number(1)} ${data.number(1)} ${data.number(1)} ${hex(data.rest())}`;
    case RECORD_TYPES.DNSKEY:
      return `${data.number(2)} ${data.number(1)} ${data.number(1)} ${Buffer.from(data.rest()).toString('base64')}`;
    case RECORD_TYPES.SVCB:
    case RECORD_TYPES.HTTPS:
      data.rest();
      return svcbText(data.bytes, start, end);
    default:
      throw new WireError(`type ${queried satisfies never} was not queried`);
  }
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex').toUpperCase();
}
