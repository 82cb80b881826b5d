import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { gunzipSync } from 'node:zlib';
import ipaddr from 'ipaddr.js';
import { codeOf, Fault } from '../shared/fault.ts';
import { sizeText } from '../shared/size.ts';
import type { OriginOf } from './rotation.ts';

/**
 * Looks up the autonomous system that originates an address in a local table: lines of `<prefix> <length> <AS>`
 * (CAIDA's pfx2as) or `<first address> <last address> <AS> …` (iptoasn), separated by tabs. If a prefix has several
 * origins, the first counts. Of IPv6 addresses, only the first 64 bits are compared: longer prefixes are not routed.
 */
export function originTable(text: string, file: string): OriginOf {
  const ranges: Record<4 | 6, Range[]> = { 4: [], 6: [] };
  let number = 0;
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf('\n', from);
    const line = text.slice(from, end === -1 ? text.length : end).trimEnd();
    from = end === -1 ? text.length : end + 1;
    number++;
    if (line === '' || line.startsWith('#')) continue;
    const range = rangeIn(line);
    if (range === null) {
      const shown = JSON.stringify(line.slice(0, 60));
      throw new Fault(
        'invalid_request',
        `AS_TABLE: line ${number} of ${file} is ${shown}; give "prefix, length, AS" or "first address, last address, AS", separated by tabs`,
      );
    }
    if (range.asn !== 0) ranges[range.family].push(range);
  }
  return lookupIn({ 4: flattened(ranges[4]), 6: flattened(ranges[6]) });
}

/** The starts of ranges, sorted, and who originates the addresses from each start on; 0 for nobody. */
interface Table {
  starts: BigUint64Array;
  origins: Uint32Array;
}

/** A function of its own, so that its closure does not keep the parsed text in memory. */
function lookupIn(tables: Record<4 | 6, Table>): OriginOf {
  return (network) => {
    const [address = ''] = network.split('/', 1);
    const family = isIP(address) as 0 | 4 | 6;
    if (family === 0) return null;
    const { starts, origins } = tables[family];
    const wanted = numberOf(address, family);
    let [low, high] = [0, starts.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((starts[middle] as bigint) <= wanted) low = middle + 1;
      else high = middle;
    }
    return origins[low - 1] || null;
  };
}

interface Range {
  family: 4 | 6;
  first: bigint;
  last: bigint;
  asn: number;
}

function rangeIn(line: string): Range | null {
  const [start = '', second = '', origins = ''] = line.split('\t', 4);
  const family = isIP(start) as 0 | 4 | 6;
  const asn = Number(/^\d{1,10}/.exec(origins)?.[0] ?? Number.NaN);
  if (family === 0 || !(asn <= ASN_MAX)) return null;
  const first = numberOf(start, family);
  if (isIP(second) === family) {
    const last = numberOf(second, family);
    return last < first ? null : { family, first, last, asn };
  }
  const bits = family === 4 ? 32 : 64;
  if (!/^\d{1,3}$/.test(second) || Number(second) > (family === 4 ? 32 : 128)) return null;
  const size = 1n << BigInt(bits - Math.min(bits, Number(second)));
  return { family, first: (first / size) * size, last: (first / size) * size + size - 1n, asn };
}

/** An IPv4 address, or the first 64 bits of an IPv6 address. */
function numberOf(address: string, family: 4 | 6): bigint {
  // A fast path: most of a table is IPv4.
  if (family === 4) return BigInt(address.split('.').reduce((sum, byte) => sum * 256 + Number(byte), 0));
  const bytes = ipaddr.parse(address).toByteArray().slice(0, 8);
  return bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
}

const END = 2n ** 64n - 1n;
const ASN_MAX = 2 ** 32 - 1;

/** Flattens nested ranges: the smallest range that contains an address counts. */
function flattened(ranges: Range[]): Table {
  ranges.sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : a.last > b.last ? -1 : 1));
  const starts: bigint[] = [];
  const origins: number[] = [];
  const from = (start: bigint, asn: number): void => {
    // Skips starts beyond the last address, and starts before one already written, where a later range overlaps.
    if (start > END || start < (starts.at(-1) ?? 0n)) return;
    if (starts.at(-1) === start) origins[origins.length - 1] = asn;
    else {
      starts.push(start);
      origins.push(asn);
    }
  };
  const open: Range[] = [];
  const closeBefore = (start: bigint | null): void => {
    for (let top = open.at(-1); top !== undefined && (start === null || top.last < start); top = open.at(-1)) {
      open.pop();
      from(top.last + 1n, open.findLast(({ last }) => last > top.last)?.asn ?? 0);
    }
  };
  for (const range of ranges) {
    closeBefore(range.first);
    open.push(range);
    from(range.first, range.asn);
  }
  closeBefore(null);
  return { starts: BigUint64Array.from(starts), origins: Uint32Array.from(origins) };
}

const tables = new Map<string, OriginOf>();

/** The operator's table; undefined if none is set. Each process reads it once. Throws `invalid_request`. */
export function originsOf({ asTable }: { asTable: string | undefined }): OriginOf | undefined {
  if (asTable === undefined) return undefined;
  const known = tables.get(asTable);
  if (known !== undefined) return known;
  const table = originTable(textOf(asTable), asTable);
  tables.set(asTable, table);
  return table;
}

/** The largest table that is expanded, in bytes: ten times that of the whole Internet. */
const TABLE_MAX = 400_000_000;

function textOf(file: string): string {
  try {
    const bytes = readFileSync(file);
    return (file.endsWith('.gz') ? gunzipSync(bytes, { maxOutputLength: TABLE_MAX }) : bytes).toString('latin1');
  } catch (error) {
    const why =
      codeOf(error) === 'ERR_BUFFER_TOO_LARGE' ? `more than ${sizeText(TABLE_MAX)}` : codeOf(error) || 'no gzip';
    throw new Fault('invalid_request', `AS_TABLE: ${file} cannot be read (${why}); give a table of prefixes and AS`);
  }
}
