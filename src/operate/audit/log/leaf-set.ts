import { HASH_LENGTH } from '../../../proof/log/fields.ts';

/** The hashes of the leaves of a log, in 36 bytes each. */
export class LeafSet {
  #hashes = Buffer.alloc(1_024 * HASH_LENGTH);
  #order = new Uint32Array();
  #size = 0;

  add(hash: Uint8Array): void {
    const at = this.#size * HASH_LENGTH;
    if (at === this.#hashes.length) this.#hashes = Buffer.concat([this.#hashes, Buffer.alloc(at)]);
    this.#hashes.set(hash, at);
    this.#size++;
  }

  /** Call this after the last `add` and before the first `has`. */
  sort(): void {
    this.#order = Uint32Array.from({ length: this.#size }, (_, n) => n).sort((a, b) => this.#compare(a, this.#at(b)));
  }

  has(hash: Uint8Array): boolean {
    let [low, high] = [0, this.#order.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const found = this.#compare(this.#order[middle] ?? 0, hash);
      if (found === 0) return true;
      if (found < 0) low = middle + 1;
      else high = middle;
    }
    return false;
  }

  #at(n: number): Uint8Array {
    return this.#hashes.subarray(n * HASH_LENGTH, (n + 1) * HASH_LENGTH);
  }

  #compare(n: number, hash: Uint8Array): number {
    return Buffer.compare(this.#at(n), hash);
  }
}
