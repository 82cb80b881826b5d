/** Beginnings of words are tokens of their own up to this length, in UTF-16 units; longer words are tokens as a whole. */
export const BEGINNING_MAX = 8;
/** Joins the two parts of a pair's token. In Latin-1, which keeps most strings at one byte a character. */
const PAIR_MARK = 0xa6;
const SPACE = 0x20;
/** Edges that are no letters: from a word to the next one, and from the last letter of a word. */
const PAIR_EDGE = 0x10000;
const END_EDGE = 0x10001;

/** The token of a word with the first two letters of the next one, or with the only one. */
export function pairToken(word: string, next: string): string {
  return `${word}${String.fromCharCode(PAIR_MARK)}${next.slice(0, firstTwo(next, 0))}`;
}

/**
 * The tokens of normalized words, each once: all beginnings of up to eight letters, longer words as a whole, and each
 * word together with the first two letters of the word after it. A search for the beginning of a word is one look-up,
 * and the pairs leave few pieces in which phrases such as “U.S.” or those of unspaced scripts must be looked for.
 * `words` are separated by one space.
 */
export function wordTokens(words: string): string {
  tree.clear();
  output.clear();
  for (let start = 0, end = words.length; start < end; ) {
    let node = ROOT;
    let at = start;
    for (; at < end; at++) {
      const unit = words.charCodeAt(at);
      if (unit === SPACE) break;
      node = tree.follow(node, unit);
      if (tree.isNew && at - start < BEGINNING_MAX && !isHighSurrogate(unit)) output.add(words, start, at + 1);
    }
    if (at - start > BEGINNING_MAX) {
      tree.follow(node, END_EDGE);
      if (tree.isNew) output.add(words, start, at);
    }
    if (at + 1 < end) {
      const letters = firstTwo(words, at + 1);
      node = tree.follow(node, PAIR_EDGE);
      for (let next = at + 1; next < at + 1 + letters; next++) node = tree.follow(node, words.charCodeAt(next));
      tree.follow(node, END_EDGE);
      if (tree.isNew) output.addPair(words, start, at, letters);
    }
    start = at + 1;
  }
  return output.text();
}

/** How many UTF-16 units the first two letters of a word take, or its only one. */
function firstTwo(words: string, start: number): number {
  const letter = (at: number): number => {
    if (at >= words.length || words.charCodeAt(at) === SPACE) return 0;
    return isHighSurrogate(words.charCodeAt(at)) ? 2 : 1;
  };
  const first = letter(start);
  return first + letter(start + first);
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00;

const ROOT = 0;

/** A tree of letters, kept in a hash table of its edges: no string is made to find out whether a beginning is known. */
class LetterTree {
  /** Whether the last edge that was followed is new. */
  isNew = false;
  #nodes = 1;
  /** The node at the end of the edge in each slot; 0 when it is free. */
  #slots = new Int32Array(4_096);
  /** The edge that leads to each node. */
  #parents = new Int32Array(2_048);
  #codes = new Int32Array(2_048);
  // Nobody can choose words that all fall into one slot.
  readonly #factors = [random32() | 1, random32() | 1] as const;

  clear(): void {
    this.#nodes = 1;
    this.#slots.fill(0);
  }

  follow(parent: number, code: number): number {
    if (this.#nodes === this.#parents.length) this.#grow();
    const mask = this.#slots.length - 1;
    let slot = this.#slotOf(parent, code) & mask;
    for (let node = this.#slots[slot] as number; node !== 0; node = this.#slots[slot] as number) {
      if (this.#parents[node] === parent && this.#codes[node] === code) {
        this.isNew = false;
        return node;
      }
      slot = (slot + 1) & mask;
    }
    const node = this.#nodes++;
    this.#slots[slot] = node;
    this.#parents[node] = parent;
    this.#codes[node] = code;
    this.isNew = true;
    return node;
  }

  #slotOf(parent: number, code: number): number {
    let hash = (Math.imul(parent, this.#factors[0]) + code) | 0;
    hash = Math.imul(hash ^ (hash >>> 16), this.#factors[1]);
    return hash ^ (hash >>> 15);
  }

  #grow(): void {
    const [parents, codes] = [this.#parents, this.#codes];
    this.#parents = new Int32Array(parents.length * 2);
    this.#codes = new Int32Array(codes.length * 2);
    this.#parents.set(parents);
    this.#codes.set(codes);
    this.#slots = new Int32Array(this.#slots.length * 2);
    const mask = this.#slots.length - 1;
    for (let node = 1; node < this.#nodes; node++) {
      let slot = this.#slotOf(this.#parents[node] as number, this.#codes[node] as number) & mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = node;
    }
  }
}

const random32 = (): number => Math.floor(Math.random() * 2 ** 32) | 0;

/** Tokens separated by spaces. */
class Output {
  #units = new Uint16Array(65_536);
  #length = 0;
  /** All units together: below 256 when each of them is. */
  #bits = 0;

  clear(): void {
    this.#length = 0;
    this.#bits = 0;
  }

  add(text: string, start: number, end: number): void {
    this.#reserve(end - start + 1);
    for (let at = start; at < end; at++) this.#put(text.charCodeAt(at));
    this.#put(SPACE);
  }

  /** The word from `start` to `end`, and so many units of the next one. */
  addPair(text: string, start: number, end: number, letters: number): void {
    this.#reserve(end - start + letters + 2);
    for (let at = start; at < end; at++) this.#put(text.charCodeAt(at));
    this.#put(PAIR_MARK);
    for (let at = end + 1; at <= end + letters; at++) this.#put(text.charCodeAt(at));
    this.#put(SPACE);
  }

  text(): string {
    const units = this.#units.subarray(0, Math.max(0, this.#length - 1));
    const text =
      this.#bits < 256
        ? Buffer.from(units).toString('latin1')
        : Buffer.from(units.buffer, 0, units.byteLength).toString('utf16le');
    // What one long text took is not kept.
    if (this.#units.length > 2 ** 20) this.#units = new Uint16Array(65_536);
    return text;
  }

  #put(unit: number): void {
    this.#units[this.#length++] = unit;
    this.#bits |= unit;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#units.length) return;
    const units = new Uint16Array(Math.max(this.#units.length * 2, this.#length + more));
    units.set(this.#units.subarray(0, this.#length));
    this.#units = units;
  }
}

const tree = new LetterTree();
const output = new Output();
