import ipaddr from 'ipaddr.js';
import { escapeBare, escapeQuoted, escapeText } from './escape.ts';
import { RECORD_TYPES, type RecordTypeNumber, type ResourceRecord, readName, WireError } from './message.ts';

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
 * Canonical text: hosts in lower case without a trailing dot, digests in upper-case hex, keys in base64, the strings of
 * a TXT record joined (RFC 7208, section 3.3). Throws a WireError.
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
      return `${data.number(1)} ${escapeBare(data.string()).toLowerCase()} "${escapeQuoted(data.rest())}"`;
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

/** The registered keys with presentation formats of their own (RFC 9460, section 14.3.2; RFC 9461; RFC 9540). */
const KEYS = ['mandatory', 'alpn', 'no-default-alpn', 'port', 'ipv4hint', 'ech', 'ipv6hint', 'dohpath', 'ohttp'];

/**
 * `1 . alpn=h2,h3 port=8443`, with the keys in ascending order, as they must be on the wire (RFC 9460, section 2.2).
 * Values contain no spaces. Throws a WireError.
 */
export function svcbText(bytes: Uint8Array, start: number, end: number): string {
  if (start + 3 > end) throw new WireError('the data is too short');
  const view = new DataView(bytes.buffer, bytes.byteOffset, end);
  const { name, end: afterName } = readName(bytes, start + 2);
  const words = [String(view.getUint16(start)), name];
  let at = afterName;
  let last = -1;
  while (at < end) {
    if (at + 4 > end) throw new WireError('a parameter runs past the end');
    const key = view.getUint16(at);
    const length = view.getUint16(at + 2);
    at += 4;
    if (key <= last) throw new WireError('parameters are out of order');
    if (at + length > end) throw new WireError('a parameter runs past the end');
    words.push(parameter(key, bytes.subarray(at, at + length)));
    last = key;
    at += length;
  }
  if (at !== end) throw new WireError('the data has another length');
  return words.join(' ');
}

function parameter(key: number, value: Uint8Array): string {
  const name = keyName(key);
  const text = valueText(name, value);
  return text === '' ? name : `${name}=${text}`;
}

function keyName(key: number): string {
  return KEYS[key] ?? `key${key}`;
}

function valueText(name: string, value: Uint8Array): string {
  switch (name) {
    case 'mandatory':
      return parts(value, 2)
        .map(([high = 0, low = 0]) => keyName((high << 8) | low))
        .join(',');
    case 'alpn':
      return protocols(value).join(',');
    case 'no-default-alpn':
    case 'ohttp':
      if (value.length > 0) throw new WireError(`${name} has a value`);
      return '';
    case 'port': {
      const [high = 0, low = 0] = parts(value, 2, 1)[0] ?? [];
      return String((high << 8) | low);
    }
    case 'ipv4hint':
      return addresses(value, 4);
    case 'ipv6hint':
      return addresses(value, 16);
    case 'ech':
      if (value.length === 0) throw new WireError('ech has no value');
      return Buffer.from(value).toString('base64');
    default:
      return escapeBare(value);
  }
}

/** Splits a value into parts of one size: at least one, or exactly `count`. */
function parts(value: Uint8Array, size: number, count = value.length / size): Uint8Array[] {
  if (value.length === 0 || value.length !== count * size || value.length % size !== 0) {
    throw new WireError('a parameter has another length');
  }
  return Array.from({ length: count }, (_, index) => value.subarray(index * size, (index + 1) * size));
}

function addresses(value: Uint8Array, size: 4 | 16): string {
  return parts(value, size)
    .map((part) => addressText(part))
    .join(',');
}

/** An IPv4 address, or an IPv6 address by RFC 5952. */
function addressText(bytes: Uint8Array): string {
  return bytes.length === 4 ? bytes.join('.') : new ipaddr.IPv6([...bytes]).toRFC5952String();
}

/** Names of protocols; a comma or backslash in one is escaped twice (RFC 9460, appendix A.1). */
function protocols(value: Uint8Array): string[] {
  const found: string[] = [];
  let at = 0;
  while (at < value.length) {
    const size = value[at] ?? 0;
    const name = value.subarray(at + 1, at + 1 + size);
    if (size === 0 || name.length !== size) throw new WireError('alpn has another length');
    found.push(escapeBare(Buffer.from(Buffer.from(name).toString('latin1').replace(/[\\,]/g, '\\$&'), 'latin1')));
    at += size + 1;
  }
  if (found.length === 0) throw new WireError('alpn has no value');
  return found;
}
