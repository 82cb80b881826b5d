import { LogFault } from './log-fault.ts';
import { type Tile, tilePath } from './tile.ts';

/** Entry bundles of C2SP tlog-tiles: each entry is preceded by its length as a big-endian uint16. */

const LENGTH_BYTES = 2;
/** The maximum of a uint16. */
export const ENTRY_MAX = 65_535;

/** Encodes a bundle. Throws a RangeError when an entry is longer than 65,535 bytes. */
export function entryBundle(entries: Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(entries.reduce((length, entry) => length + LENGTH_BYTES + entry.length, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const entry of entries) {
    if (entry.length > ENTRY_MAX) throw new RangeError(`an entry has ${entry.length} bytes; ${ENTRY_MAX} are the most`);
    view.setUint16(at, entry.length);
    bytes.set(entry, at + LENGTH_BYTES);
    at += LENGTH_BYTES + entry.length;
  }
  return bytes;
}

/**
 * Parses a bundle as served. Throws a LogFault unless it has exactly as many entries as its width, and no trailing
 * bytes.
 */
export function readEntryBundle(tile: Tile, bytes: Uint8Array): Uint8Array[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const entries: Uint8Array[] = [];
  let at = 0;
  while (at < bytes.length) {
    const start = at + LENGTH_BYTES;
    const end = start > bytes.length ? Number.POSITIVE_INFINITY : start + view.getUint16(at);
    if (end > bytes.length) throw new LogFault(`${tilePath(tile)} ends within entry ${entries.length}`);
    if (entries.length === tile.width) throw new LogFault(`${tilePath(tile)} has more than ${tile.width} entries`);
    entries.push(bytes.subarray(start, end));
    at = end;
  }
  if (entries.length < tile.width) {
    throw new LogFault(`${tilePath(tile)} has ${entries.length} entries instead of ${tile.width}`);
  }
  return entries;
}
