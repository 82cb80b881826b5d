import { hash } from 'node:crypto';
import { Fault } from '../../fault.ts';

/** The most names that are remembered: two for each receipt, and one for each withdrawal. Twelve bytes each. */
const NAMES_MAX = 8_000_000;
const ROW_BYTES = 12;
/** A value in the table is an index plus one, so that 0 is an empty slot. */
const INDEX_MAX = 0xffff_fffe;

/**
 * Remembers at which leaf a name was first used, such as the revision of a piece, in a few bytes for each. Names are
 * compared by 64 bits of their SHA-256: a log that forges a collision only draws suspicion to itself.
 */
export class LeafIndex {
  #keys = new BigUint64Array(1_024);
  #values = new Uint32Array(1_024);
  #count = 0;

  /** The index that was stored under a name; null when there is none. */
  get(name: string): number | null {
    const value = this.#values[this.#slotOf(keyOf(name))] ?? 0;
    return value === 0 ? null : value - 1;
  }

  /** Throws `too_large` when there are more than eight million names. */
  set(name: string, index: number): void {
    this.#put(keyOf(name), index);
  }

  /** Everything that is stored, in no order. */
  toBytes(): Buffer {
    const bytes = Buffer.alloc(this.#count * ROW_BYTES);
    let at = 0;
    for (const [slot, value] of this.#values.entries()) {
      if (value === 0) continue;
      bytes.writeBigUInt64LE(this.#keys[slot] ?? 0n, at);
      bytes.writeUInt32LE(value - 1, at + 8);
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
    const slot = this.#slotOf(key);
    if (this.#values[slot] === 0) {
      if (this.#count === NAMES_MAX) {
        throw new Fault(
          'too_large',
          `the log has more than ${NAMES_MAX / 2} receipts, the most that a monitor remembers`,
        );
      }
      this.#count++;
    }
    this.#keys[slot] = key;
    this.#values[slot] = index + 1;
    if (this.#count * 2 > this.#values.length) this.#grow();
  }

  /** The slot of a key, or the empty one where it would be. */
  #slotOf(key: bigint): number {
    const mask = this.#values.length - 1;
    let slot = Number(key & BigInt(mask));
    while (this.#values[slot] !== 0 && this.#keys[slot] !== key) slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const [keys, values] = [this.#keys, this.#values];
    this.#keys = new BigUint64Array(keys.length * 2);
    this.#values = new Uint32Array(values.length * 2);
    for (const [at, value] of values.entries()) {
      if (value === 0) continue;
      const slot = this.#slotOf(keys[at] ?? 0n);
      this.#keys[slot] = keys[at] ?? 0n;
      this.#values[slot] = value;
    }
  }
}

function keyOf(name: string): bigint {
  return hash('sha256', name, 'buffer').readBigUInt64LE(0);
}
