import { randomInt } from 'node:crypto';

/** The words of documents as FTS5's tokenizer `ascii` finds them. Each distinct word has a number. */
export interface SegmentWords {
  /** Where the bytes of each word are. */
  bytes: Uint8Array;
  start: Uint32Array;
  length: Uint32Array;
  /** The numbers of the words in the order of their bytes. */
  order: Uint32Array;
  /** The texts of all documents, one after the other, as numbers of words. */
  text: Uint32Array;
  /** Where each document begins in `text`, and where the last one ends. */
  begins: Uint32Array;
}

/** FTS5 cuts longer words, in bytes. */
const WORD_MAX = 32_768;
/** What each byte becomes: 0 between words, lower case in ASCII. */
const FOLDED = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte >= 128) return byte;
  const character = String.fromCharCode(byte);
  return /[a-z0-9]/i.test(character) ? character.toLowerCase().charCodeAt(0) : 0;
});
/** Nobody can write a text whose words all have one hash. */
const SEED = randomInt(2 ** 31);

const encoder = new TextEncoder();

export function segmentWords(documents: readonly string[]): SegmentWords {
  const room = new Uint8Array(documents.reduce((sum, { length }) => sum + 3 * length + 1, 0));
  let end = 0;
  const ends = documents.map((words) => {
    // The byte after a document stays 0 and ends its last word.
    end += encoder.encodeInto(words, room.subarray(end)).written + 1;
    return end;
  });
  const found = new DistinctWords(room.subarray(0, end));
  const begins = Uint32Array.of(0, ...ends.map((end) => found.readTo(end)));
  return { begins, ...found.words() };
}

class DistinctWords {
  readonly #bytes: Uint8Array;
  readonly #start: Uint32Array;
  readonly #length: Uint32Array;
  /** The words by their hashes, each as its number and one; 0 where there is none. */
  readonly #table: Uint32Array;
  readonly #text: Uint32Array;
  #count = 0;
  #places = 0;
  #end = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    // Only what is written takes memory.
    const most = Math.ceil(bytes.length / 2);
    this.#start = new Uint32Array(most);
    this.#length = new Uint32Array(most);
    this.#text = new Uint32Array(most);
    // Few words have one byte, so a third of it stays empty.
    this.#table = new Uint32Array(2 ** Math.ceil(Math.log2(most + 1)));
  }

  /** Reads on to `end`, and folds the bytes. Returns how many words there are until then. */
  readTo(end: number): number {
    const bytes = this.#bytes;
    let begin = this.#end;
    let hash = SEED;
    for (let at = begin; at < end; at++) {
      const byte = FOLDED[bytes[at] ?? 0] ?? 0;
      bytes[at] = byte;
      if (byte !== 0) {
        if (at - begin < WORD_MAX) hash = Math.imul(hash ^ byte, 0x01000193);
        continue;
      }
      if (at > begin) this.#text[this.#places++] = this.#numberOf(begin, Math.min(at - begin, WORD_MAX), hash);
      begin = at + 1;
      hash = SEED;
    }
    this.#end = end;
    return this.#places;
  }

  #numberOf(begin: number, length: number, hash: number): number {
    const bytes = this.#bytes;
    const table = this.#table;
    const mask = table.length - 1;
    // The lowest bits of a product depend on the lowest bits alone.
    let slot = (hash ^ (hash >>> 15)) & mask;
    for (; table[slot] !== 0; slot = (slot + 1) & mask) {
      const word = (table[slot] ?? 0) - 1;
      if (this.#length[word] !== length) continue;
      const start = this.#start[word] ?? 0;
      let same = 0;
      while (same < length && bytes[start + same] === bytes[begin + same]) same++;
      if (same === length) return word;
    }
    const word = this.#count++;
    table[slot] = this.#count;
    this.#start[word] = begin;
    this.#length[word] = length;
    return word;
  }

  words(): Omit<SegmentWords, 'begins'> {
    return {
      bytes: this.#bytes,
      start: this.#start,
      length: this.#length.subarray(0, this.#count),
      order: this.#order(),
      text: this.#text.subarray(0, this.#places),
    };
  }

  /** Sorts the words by four bytes, then those that are the same up to there, and so on. */
  #order(): Uint32Array {
    const keys = new BigUint64Array(this.#count);
    /** Of each key the word, which is its lower half, and the bytes: on little-endian processors, which libSQL needs too. */
    const halves = new Uint32Array(keys.buffer);
    for (let at = 0; at < this.#count; at++) halves[2 * at] = at;
    const groups = [{ from: 0, to: this.#count, depth: 0 }];
    for (let group = groups.pop(); group !== undefined; group = groups.pop()) {
      const { from, to, depth } = group;
      for (let at = from; at < to; at++) halves[2 * at + 1] = this.#fourBytes(halves[2 * at] ?? 0, depth);
      keys.subarray(from, to).sort();
      for (let at = from, end = at; at < to; at = end) {
        while (end < to && halves[2 * end + 1] === halves[2 * at + 1]) end++;
        if (end - at > 1) groups.push({ from: at, to: end, depth: depth + 4 });
      }
    }
    return halves.filter((_, at) => at % 2 === 0);
  }

  /** No word has a byte 0, so shorter words come first. */
  #fourBytes(word: number, depth: number): number {
    const begin = this.#start[word] ?? 0;
    const end = begin + (this.#length[word] ?? 0);
    let key = 0;
    for (let at = begin + depth; at < begin + depth + 4; at++)
      key = key * 256 + (at < end ? (this.#bytes[at] ?? 0) : 0);
    return key;
  }
}
