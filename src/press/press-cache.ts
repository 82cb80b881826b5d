import { crc32 } from 'node:zlib';
import { utf8 } from './utf8.ts';

/**
 * Where the packs of a press cache are stored. What is read may be lost or damaged, and what is written may never be
 * there: nothing throws.
 */
export interface PackStore {
  /** The packs with entries of any of these outputs, the oldest first. */
  packsWith(outputs: readonly string[]): Iterable<Uint8Array>;
  /** Adds a pack with the entries of these outputs, which replace those that they had. */
  add(outputs: readonly string[], pack: Uint8Array): void;
  /** Removes the entries of outputs. */
  remove(outputs: readonly string[]): void;
  /** Removes the packs of which no entry is left. */
  tidy(): void;
  /** Removes everything. */
  clear(): void;
}

/** What an output made in an earlier press: a value of JSON, and bytes. */
export interface CacheEntry<T> {
  value: T;
  bytes: Uint8Array;
}

/** Longer bytes are made each time, so that a load of outputs has a bounded size. */
const BYTES_MAX = 256 * 1024;
/** A pack of more bytes than this takes no further entry. */
const PACK_BYTES = 1024 * 1024;
/** Outputs whose entries are in more packs than this get a new one together. */
const PACKS_MAX = 4;
const NO_BYTES = new Uint8Array();

/**
 * What the outputs of one paper made in earlier presses, at most one entry each. An entry has a version, a text that
 * says of what it was made. The entries of outputs that are printed together are stored together, as a pack, because
 * reading them then takes a fraction.
 */
export class PressCache {
  readonly #packs: PackStore;

  constructor(packs: PackStore) {
    this.#packs = packs;
  }

  /** Reads the entries of outputs that are printed next. Several loads may be printed at a time. */
  load(outputs: readonly string[]): CacheLoad {
    return new CacheLoad(this.#packs, outputs);
  }

  /** Call it at the end of a press of everything. `isEmpty` tells that the paper has no outputs any more. */
  tidy(isEmpty: boolean): void {
    if (isEmpty) this.#packs.clear();
    else this.#packs.tidy();
  }
}

/** The entries of some outputs while these are printed. */
export class CacheLoad {
  readonly #packs: PackStore;
  readonly #loaded = new Map<string, PackedEntry>();
  readonly #isScattered: boolean;
  readonly #used = new Set<string>();
  readonly #added = new Map<string, PackedEntry>();

  constructor(packs: PackStore, outputs: readonly string[]) {
    this.#packs = packs;
    const wanted = new Set(outputs);
    let count = 0;
    for (const pack of packs.packsWith(outputs)) {
      count++;
      for (const entry of entriesIn(pack)) if (wanted.has(entry.output)) this.#loaded.set(entry.output, entry);
    }
    this.#isScattered = count > PACKS_MAX;
  }

  /** The entry of an output; null unless it has this version. */
  get<T>(output: string, version: string): CacheEntry<T> | null {
    const entry = this.#loaded.get(output);
    if (entry?.version !== version) return null;
    this.#used.add(output);
    return entry as unknown as CacheEntry<T>;
  }

  /** The bytes of the entries of other outputs. */
  *read(versions: ReadonlyMap<string, string>): Iterable<{ output: string; bytes: Uint8Array }> {
    for (const pack of this.#packs.packsWith([...versions.keys()])) {
      for (const entry of entriesIn(pack)) if (versions.get(entry.output) === entry.version) yield entry;
    }
  }

  put<T>(output: string, version: string, value: T, bytes: Uint8Array = NO_BYTES): void {
    if (bytes.length <= BYTES_MAX) this.#added.set(output, { output, version, value, size: bytes.length, bytes });
  }

  /** Call it when the outputs are printed: writes what was put, and removes what none of them used. */
  save(): void {
    const others = [...this.#loaded.values()].filter(({ output }) => !this.#added.has(output));
    const unused = others.filter(({ output }) => !this.#used.has(output)).map(({ output }) => output);
    if (unused.length > 0) this.#packs.remove(unused);
    if (this.#isScattered || unused.length > 0) {
      for (const entry of others) if (this.#used.has(entry.output)) this.#added.set(entry.output, entry);
    }
    let entries: PackedEntry[] = [];
    let size = 0;
    for (const entry of this.#added.values()) {
      entries.push(entry);
      size += entry.size;
      if (size <= PACK_BYTES) continue;
      this.#write(entries);
      entries = [];
      size = 0;
    }
    this.#write(entries);
  }

  #write(entries: readonly PackedEntry[]): void {
    if (entries.length === 0) return;
    this.#packs.add(
      entries.map(({ output }) => output),
      packOf(entries),
    );
  }
}

/** What the head of a pack says of an entry. */
interface Head {
  output: string;
  version: string;
  value: unknown;
  /** Of its bytes. */
  size: number;
}

interface PackedEntry extends Head {
  bytes: Uint8Array;
}

const SUM_LENGTH = 4;
const NEWLINE = '\n'.charCodeAt(0);

/** A pack: the CRC-32 of what follows, the heads as a line of JSON, and the bytes of one entry after the other. */
function packOf(entries: readonly PackedEntry[]): Uint8Array {
  const heads: Head[] = entries.map(({ bytes: _, ...head }) => head);
  const sum = Buffer.alloc(SUM_LENGTH);
  const pack = Buffer.concat([sum, utf8(`${JSON.stringify(heads)}\n`), ...entries.map(({ bytes }) => bytes)]);
  pack.writeUInt32BE(crc32(pack.subarray(SUM_LENGTH)));
  return pack;
}

/** The entries of a pack; none if it is damaged. */
function entriesIn(bytes: Uint8Array): PackedEntry[] {
  const pack = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (pack.length < SUM_LENGTH || pack.readUInt32BE() !== crc32(pack.subarray(SUM_LENGTH))) return [];
  const end = pack.indexOf(NEWLINE, SUM_LENGTH);
  const heads: Head[] = JSON.parse(pack.toString('utf8', SUM_LENGTH, end));
  let at = end + 1;
  return heads.map(({ output, version, value, size }) => {
    const entry = { output, version, value, size, bytes: pack.subarray(at, at + size) };
    at += size;
    return entry;
  });
}
