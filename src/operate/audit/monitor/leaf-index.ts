import { hash } from 'node:crypto';
import { Fault } from '../../../shared/fault.ts';

/** The most names that are remembered: two for each receipt, and one for each withdrawal. */
const NAMES_MAX = 8_000_000;
const ROW_BYTES = 12;
const INDEX_MAX = 0xffff_ffff;

/**
 * Remembers at which leaf a name was first used, such as the revision of a piece. Names are compared by 64 bits of their
 * SHA-256: a log that forges a collision only draws suspicion to itself.
 */
export class LeafIndex {
  readonly #indexes = new Map<bigint, number>();

  /** The index that was stored under a name; null when there is none. */
  get(name: string): number | null {
    return this.#indexes.get(keyOf(name)) ?? null;
  }

  /** Throws `too_large` when there are more than eight million names. */
  set(name: string, index: number): void {
    this.#put(keyOf(name), index);
  }

  /** Everything that is stored, twelve bytes for each name. */
  toBytes(): Buffer {
    const bytes = Buffer.alloc(this.#indexes.size * ROW_BYTES);
    let at = 0;
    for (const [key, index] of this.#indexes) {
      bytes.writeBigUInt64LE(key, at);
      bytes.writeUInt32LE(index, at + 8);
      at += ROW_BYTES;
    }
    return bytes;
  }

  static from(bytes: Buffer): LeafIndex {
    const index = new LeafIndex();
    for (let at = 0; at + ROW_BYTES <= bytes.length; at += ROW_BYTES) {
      index.#put(bytes.readBigUInt64LE(at), bytes.readUInt32LE(at + 8));
    }
    return index;
  }

  #put(key: bigint, index: number): void {
    if (index > INDEX_MAX) throw new Fault('too_large', `leaf ${index} is beyond what a monitor remembers`);
    if (this.#indexes.size === NAMES_MAX && !this.#indexes.has(key)) {
      throw new Fault(
        'too_large',
        `the log has more than ${NAMES_MAX / 2} receipts, the most that a monitor remembers`,
      );
    }
    this.#indexes.set(key, index);
  }
}

function keyOf(name: string): bigint {
  return hash('sha256', name, 'buffer').readBigUInt64LE(0);
}
