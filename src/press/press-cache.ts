import { crc32 } from 'node:zlib';
import { utf8 } from './utf8.ts';

/**
 * Where a press cache is kept. What is read may be lost or damaged, and what is written may never be there: neither
 * throws.
 */
export interface PressPacks {
  /** The packs that hold any of these outputs. */
  holding(outputs: readonly string[]): Uint8Array[];
  /** Keeps a pack. From now on, it alone holds these outputs. */
  keep(outputs: readonly string[], pack: Uint8Array): void;
  /** Forgets outputs that are not among these, once there are many of them. */
  prune(outputs: ReadonlySet<string>): void;
}

/** What an output keeps for the next press: a value of JSON, and bytes. */
export interface Kept<T> {
  value: T;
  bytes: Uint8Array;
}

/** What was read of a cache. */
export class KeptParts {
  readonly #parts: ReadonlyMap<string, Part>;

  constructor(parts: Iterable<Part> = []) {
    this.#parts = new Map(Array.from(parts, (part) => [part.output, part]));
  }

  /** What an output kept; null unless it was made of this basis. */
  get<T>(output: string, basis: string): Kept<T> | null {
    const part = this.#parts.get(output);
    return part?.basis === basis ? (part as unknown as Kept<T>) : null;
  }
}

/** Longer bytes are made anew, so that a load of outputs has a bounded size. */
const BYTES_MAX = 256 * 1024;
const NO_BYTES = new Uint8Array();

/**
 * What the outputs of one paper keep from press to press, each with a basis: a text that says of what it was made. What
 * outputs that are printed together keep is kept together, because reading it then costs a fraction.
 */
export class PressCache {
  readonly #packs: PressPacks;
  #loaded = new KeptParts();
  #unsaved = new Map<string, Part>();

  constructor(packs: PressPacks) {
    this.#packs = packs;
  }

  /** Reads what some outputs kept. */
  read(outputs: readonly string[]): KeptParts {
    return new KeptParts(this.#packs.holding(outputs).flatMap(partsIn));
  }

  /** Reads what outputs kept that are printed next, for `get`. */
  load(outputs: readonly string[]): void {
    this.#loaded = this.read(outputs);
  }

  /** What an output kept that was loaded; null unless it was made of this basis. */
  get<T>(output: string, basis: string): Kept<T> | null {
    return this.#loaded.get(output, basis);
  }

  keep<T>(output: string, basis: string, value: T, bytes: Uint8Array = NO_BYTES): void {
    if (bytes.length > BYTES_MAX) return;
    this.#unsaved.set(output, { output, basis, value, size: bytes.length, bytes });
  }

  /** Writes what was to be kept since the last call. */
  save(): void {
    const parts = [...this.#unsaved.values()];
    this.#unsaved = new Map();
    if (parts.length === 0) return;
    this.#packs.keep(
      parts.map(({ output }) => output),
      packOf(parts),
    );
  }

  /** Forgets what outputs kept that the paper no longer has. */
  prune(outputs: ReadonlySet<string>): void {
    this.#packs.prune(outputs);
  }
}

/** What the head of a pack says of one output. */
interface Entry {
  output: string;
  basis: string;
  value: unknown;
  /** Of its bytes. */
  size: number;
}

interface Part extends Entry {
  bytes: Uint8Array;
}

const SUM_LENGTH = 4;
const LINE = '\n'.charCodeAt(0);

/** A pack: the CRC-32 of what follows, its head as a line of JSON, and the bytes of one output after the other. */
function packOf(parts: readonly Part[]): Uint8Array {
  const head: Entry[] = parts.map(({ bytes, ...entry }) => entry);
  const sum = Buffer.alloc(SUM_LENGTH);
  const pack = Buffer.concat([sum, utf8(`${JSON.stringify(head)}\n`), ...parts.map(({ bytes }) => bytes)]);
  pack.writeUInt32BE(crc32(pack.subarray(SUM_LENGTH)));
  return pack;
}

/** What a pack holds; nothing if it is damaged. */
function partsIn(bytes: Uint8Array): Part[] {
  const pack = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (pack.length < SUM_LENGTH || pack.readUInt32BE() !== crc32(pack.subarray(SUM_LENGTH))) return [];
  const end = pack.indexOf(LINE, SUM_LENGTH);
  const head: Entry[] = JSON.parse(pack.toString('utf8', SUM_LENGTH, end));
  let at = end + 1;
  return head.map(({ output, basis, value, size }) => {
    const part = { output, basis, value, size, bytes: pack.subarray(at, at + size) };
    at += size;
    return part;
  });
}
