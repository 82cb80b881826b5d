/** How full the table may be before it doubles. */
const FULL = 0.6;

/**
 * A set of paths that keeps 53 bits of each in place of the text: half a million take 8 MB instead of 55. By chance, it
 * takes another path for one of its own once in 10,000,000,000; who seeks such a path finds one, and keeps a stray file.
 */
export class PathSet {
  #slots = new Float64Array(1 << 10);
  #size = 0;

  add(path: string): void {
    if (this.#put(this.#slots, digestOf(path))) this.#size++;
    if (this.#size > this.#slots.length * FULL) this.#grow();
  }

  has(path: string): boolean {
    const digest = digestOf(path);
    return this.#slots[slotOf(this.#slots, digest)] === digest;
  }

  #put(slots: Float64Array, digest: number): boolean {
    const slot = slotOf(slots, digest);
    const isNew = slots[slot] === 0;
    slots[slot] = digest;
    return isNew;
  }

  #grow(): void {
    const slots = new Float64Array(this.#slots.length * 2);
    for (const digest of this.#slots) if (digest !== 0) this.#put(slots, digest);
    this.#slots = slots;
  }
}

/** Where a digest is, or the free slot where it belongs. */
function slotOf(slots: Float64Array, digest: number): number {
  const last = slots.length - 1;
  let slot = digest & last;
  while (slots[slot] !== 0 && slots[slot] !== digest) slot = (slot + 1) & last;
  return slot;
}

/** Two 32-bit hashes in the manner of MurmurHash, as an integer of 53 bits that is never 0. */
function digestOf(text: string): number {
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    high = Math.imul(high ^ unit, 0x9e3779b1);
    low = Math.imul(low ^ unit, 0x5f356495);
  }
  high = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35);
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35);
  return (high & 0x1f_ffff) * 0x1_0000_0000 + (low >>> 0) || 1;
}
