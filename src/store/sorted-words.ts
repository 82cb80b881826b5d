/**
 * The words of documents as FTS5 indexes them (its tokenizer `ascii`, one column): each distinct word with its places,
 * sorted. Its arrays are kept for the next documents.
 */
export interface SortedWords {
  /** The bytes of all distinct words. */
  bytes: Uint8Array;
  /** Where a word's bytes begin, and how many they are, in the order of the words. */
  start: Uint32Array;
  length: Uint32Array;
  /** How many bytes a word has in common with the one before it. */
  common: Uint32Array;
  count: number;
  /** The distinct word at each place of the text of all documents, as its number in the order of the words. */
  text: Uint32Array;
  /** How often each word occurs. */
  times: Uint32Array;
  /** The place at which each document begins, and the end of the last. */
  begins: number[];
}

/** A longer word is cut, as FTS5 cuts it. */
const WORD_MAX = 32_768;
/** More distinct words cannot be sorted by a number that also says which word it is. */
const WORDS_MAX = 2 ** 21;
/** Words that are the same up to this byte are so few that they are compared. */
const DEEP = 40;

/** What each byte becomes: nothing between words, lower case for ASCII. */
const FOLDED = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte >= 128) return byte;
  return /[a-z0-9]/i.test(String.fromCharCode(byte)) ? String.fromCharCode(byte).toLowerCase().charCodeAt(0) : 0;
});

const encoder = new TextEncoder();

/** Finds the words of documents. */
export class WordSorter {
  #raw = new Uint8Array(2 ** 16);
  #bytes = new Uint8Array(2 ** 20);
  #end = 0;
  #start = new Uint32Array(2 ** 16);
  #length = new Uint32Array(2 ** 16);
  #hash = new Int32Array(2 ** 16);
  #times = new Uint32Array(2 ** 16);
  #count = 0;
  /** The words by their hashes, each as its number and one; 0 where there is none. */
  #table = new Uint32Array(2 ** 17);
  #text = new Uint32Array(2 ** 20);
  #places = 0;

  sorted(documents: readonly string[]): SortedWords {
    [this.#end, this.#count, this.#places] = [0, 0, 0];
    this.#table.fill(0);
    this.#times.fill(0);
    const begins = [0];
    for (const words of documents) {
      this.#read(words);
      begins.push(this.#places);
    }
    const order = this.#order();
    const [start, length, times, rank] = Array.from({ length: 4 }, () => new Uint32Array(order.length)) as [
      Uint32Array,
      Uint32Array,
      Uint32Array,
      Uint32Array,
    ];
    for (let at = 0; at < order.length; at++) {
      const word = order[at] ?? 0;
      rank[word] = at;
      start[at] = this.#start[word] ?? 0;
      length[at] = this.#length[word] ?? 0;
      times[at] = this.#times[word] ?? 0;
    }
    const text = this.#text;
    for (let place = 0; place < this.#places; place++) text[place] = rank[text[place] ?? 0] ?? 0;
    return {
      bytes: this.#bytes,
      start,
      length,
      common: commonBytes(this.#bytes, start, length),
      count: order.length,
      text: text.subarray(0, this.#places),
      times,
      begins,
    };
  }

  #read(words: string): void {
    if (this.#raw.length < words.length * 3) this.#raw = new Uint8Array(words.length * 4);
    const raw = this.#raw;
    const { written } = encoder.encodeInto(words, raw);
    // One more byte, so that the last word ends too.
    raw[written] = 32;
    this.#reserve(written);
    let begin = 0;
    let hash = 0;
    for (let at = 0; at <= written; at++) {
      const byte = FOLDED[raw[at] ?? 0] ?? 0;
      if (byte !== 0) {
        raw[at] = byte;
        // What is cut off makes no other word.
        if (at - begin < WORD_MAX) hash = Math.imul(hash ^ byte, 0x01000193);
        continue;
      }
      if (at > begin) {
        this.#text[this.#places++] = this.#numberOf(begin, Math.min(at - begin, WORD_MAX), hash);
      }
      begin = at + 1;
      hash = 0;
    }
  }

  #numberOf(begin: number, length: number, given: number): number {
    const raw = this.#raw;
    const bytes = this.#bytes;
    // The low bits of a product depend on low bits alone.
    const hash = given ^ (given >>> 15);
    const mask = this.#table.length - 1;
    let slot = hash & mask;
    for (; ; slot = (slot + 1) & mask) {
      const word = (this.#table[slot] ?? 0) - 1;
      if (word < 0) break;
      if (this.#hash[word] !== hash || this.#length[word] !== length) continue;
      const start = this.#start[word] ?? 0;
      let same = 0;
      while (same < length && bytes[start + same] === raw[begin + same]) same++;
      if (same < length) continue;
      this.#times[word] = (this.#times[word] ?? 0) + 1;
      return word;
    }
    const word = this.#count++;
    this.#table[slot] = word + 1;
    this.#start[word] = this.#end;
    this.#length[word] = length;
    this.#hash[word] = hash;
    this.#times[word] = 1;
    bytes.set(raw.subarray(begin, begin + length), this.#end);
    this.#end += length;
    return word;
  }

  /** Room for a text of so many bytes, each other of which may be a word. */
  #reserve(length: number): void {
    const words = this.#count + Math.ceil(length / 2) + 1;
    if (this.#bytes.length < this.#end + length) this.#bytes = grown(this.#bytes, this.#end + length);
    if (this.#text.length < this.#places + words) this.#text = grown(this.#text, this.#places + words);
    if (this.#start.length >= words) return;
    this.#start = grown(this.#start, words);
    this.#length = grown(this.#length, words);
    this.#hash = grown(this.#hash, words);
    this.#times = grown(this.#times, words);
    this.#table = new Uint32Array(2 ** Math.ceil(Math.log2(this.#start.length * 2)));
    const mask = this.#table.length - 1;
    for (let word = 0; word < this.#count; word++) {
      let slot = (this.#hash[word] ?? 0) & mask;
      while (this.#table[slot] !== 0) slot = (slot + 1) & mask;
      this.#table[slot] = word + 1;
    }
  }

  /** The numbers of the words in the order of their bytes. */
  #order(): Uint32Array {
    const count = this.#count;
    if (count > WORDS_MAX) throw new RangeError(`${count} distinct words are more than are sorted at a time`);
    const order = Uint32Array.from({ length: count }, (_, word) => word);
    const keys = new Float64Array(count);
    this.#sort(order, keys, 0, count, 0);
    return order;
  }

  /** Sorts words that are the same up to the byte `depth`, by four bytes at a time. No word has a byte 0. */
  #sort(order: Uint32Array, keys: Float64Array, from: number, to: number, depth: number): void {
    const bytes = this.#bytes;
    for (let at = from; at < to; at++) {
      const word = order[at] ?? 0;
      const start = (this.#start[word] ?? 0) + depth;
      const end = (this.#start[word] ?? 0) + (this.#length[word] ?? 0);
      let key = 0;
      for (let byte = start; byte < start + 4; byte++) key = key * 256 + (byte < end ? (bytes[byte] ?? 0) : 0);
      keys[at] = key * WORDS_MAX + word;
    }
    keys.subarray(from, to).sort();
    for (let at = from; at < to; at++) order[at] = (keys[at] ?? 0) % WORDS_MAX;
    for (let at = from; at < to; ) {
      const key = Math.floor((keys[at] ?? 0) / WORDS_MAX);
      let end = at + 1;
      while (end < to && Math.floor((keys[end] ?? 0) / WORDS_MAX) === key) end++;
      if (end - at > 1 && depth < DEEP) this.#sort(order, keys, at, end, depth + 4);
      else if (end - at > 1) order.subarray(at, end).sort((a, b) => this.#compare(a, b));
      at = end;
    }
  }

  #compare(a: number, b: number): number {
    const bytesOf = (word: number) => {
      const start = this.#start[word] ?? 0;
      return this.#bytes.subarray(start, start + (this.#length[word] ?? 0));
    };
    return Buffer.compare(bytesOf(a), bytesOf(b));
  }
}

function grown<T extends Uint8Array | Uint32Array | Int32Array>(array: T, length: number): T {
  const larger = new (array.constructor as new (length: number) => T)(Math.max(length, array.length * 2));
  larger.set(array);
  return larger;
}

function commonBytes(bytes: Uint8Array, start: Uint32Array, length: Uint32Array): Uint32Array {
  const common = new Uint32Array(start.length);
  for (let at = 1; at < start.length; at++) {
    const [a, b] = [start[at - 1] ?? 0, start[at] ?? 0];
    const most = Math.min(length[at - 1] ?? 0, length[at] ?? 0);
    let same = 0;
    while (same < most && bytes[a + same] === bytes[b + same]) same++;
    common[at] = same;
  }
  return common;
}
