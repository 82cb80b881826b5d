import type { SortedWords } from './sorted-words.ts';
import { putVarint } from './varint.ts';

/** The longest prefix that the search index has an index of, in characters; it has one of each length up to it. */
export const PREFIX_MAX = 8;
/** The mark of the words themselves; each length of a prefix has the next one. */
const WORDS = 48;

/** Takes a term, its mark and its list of documents with places: the first `size` bytes of `list`. */
export type TakeTerm = (mark: number, start: number, length: number, list: Uint8Array, size: number) => void;

/**
 * Every term of an FTS5 index with its list of documents, in their order. `places` are the documents' row ids,
 * ascending. Each place of the text is sorted to its word and its prefixes by counting, which reads the text nine times
 * and looks nothing up.
 */
export function eachTerm(words: SortedWords, places: readonly number[], take: TakeTerm): void {
  const lists = new Lists(words, places);
  const { count, start, length, common, times } = words;
  for (let mark = 0; mark <= PREFIX_MAX; mark++) {
    const ends = mark === 0 ? length : prefixEnds(words, mark);
    /** The term of each word, from 1 on; 0 for a word that is too short. */
    const termOf = new Uint32Array(count);
    const first: number[] = [];
    const total: number[] = [];
    for (let word = 0; word < count; word++) {
      const end = ends[word] ?? 0;
      if (end === 0) continue;
      const isNew = mark === 0 || word === 0 || ends[word - 1] !== end || (common[word] ?? 0) < end;
      if (isNew) {
        first.push(word);
        total.push(0);
      }
      termOf[word] = first.length;
      total[total.length - 1] = (total.at(-1) ?? 0) + (times[word] ?? 0);
    }
    lists.sort(termOf, total);
    for (const [term, word] of first.entries()) {
      const size = lists.write(term);
      take(WORDS + mark, start[word] ?? 0, ends[word] ?? 0, lists.bytes, size);
    }
  }
}

/** Where the first `characters` characters of each word end, in bytes; 0 for a word that has fewer. */
function prefixEnds({ bytes, start, length, count }: SortedWords, characters: number): Uint32Array {
  const ends = new Uint32Array(count);
  for (let word = 0; word < count; word++) {
    const begin = start[word] ?? 0;
    const size = length[word] ?? 0;
    let end = 0;
    let found = 0;
    for (; found < characters && end < size; found++) {
      if ((bytes[begin + end++] ?? 0) < 0xc0) continue;
      while (end < size && ((bytes[begin + end] ?? 0) & 0xc0) === 0x80) end++;
    }
    if (found === characters) ends[word] = end;
  }
  return ends;
}

/** How many places of the text are looked up together, as a power of two. */
const STRIDE = 6;

/** Writes lists of documents. */
class Lists {
  bytes = new Uint8Array(2 ** 16);
  readonly #words: SortedWords;
  readonly #rows: Float64Array;
  readonly #begins: Uint32Array;
  /** The document of each place of the text that is a multiple of the stride: few enough to stay in the first cache. */
  readonly #near: Uint32Array;
  /** The places of the text, sorted by their terms, and where those of each term end. */
  readonly #sorted: Uint32Array;
  #ends = new Uint32Array();

  constructor(words: SortedWords, rows: readonly number[]) {
    this.#words = words;
    this.#rows = Float64Array.from(rows);
    this.#begins = Uint32Array.from(words.begins);
    this.#sorted = new Uint32Array(words.text.length);
    this.#near = new Uint32Array((words.text.length >> STRIDE) + 1);
    for (let number = 0, at = 0; at < this.#near.length; at++) {
      while ((this.#begins[number + 1] ?? 0) <= at << STRIDE && number + 1 < rows.length) number++;
      this.#near[at] = number;
    }
  }

  /** Sorts the places of the text by the terms of their words, whose numbers begin with 1. */
  sort(termOf: Uint32Array, total: readonly number[]): void {
    const next = new Uint32Array(total.length + 1);
    let sum = 0;
    for (let term = 0; term < total.length; term++) {
      next[term + 1] = sum;
      sum += total[term] ?? 0;
    }
    const { text } = this.#words;
    const sorted = this.#sorted;
    for (let place = 0; place < text.length; place++) {
      const term = termOf[text[place] ?? 0] ?? 0;
      if (term === 0) continue;
      const at = next[term] ?? 0;
      sorted[at] = place;
      next[term] = at + 1;
    }
    this.#ends = next;
  }

  /** Writes the list of the term `term`, counted from 0, into `bytes`. Returns its length. */
  write(term: number): number {
    const near = this.#near;
    const sorted = this.#sorted;
    const rows = this.#rows;
    const begins = this.#begins;
    const to = this.#ends[term + 1] ?? 0;
    let at = this.#ends[term] ?? 0;
    // A row id, the size of its places and one place take no more.
    if (this.bytes.length < (to - at) * 19) this.bytes = new Uint8Array((to - at) * 24);
    const bytes = this.bytes;
    let end = 0;
    let before = 0;
    while (at < to) {
      let place = sorted[at] ?? 0;
      let number = near[place >> STRIDE] ?? 0;
      while (place >= (begins[number + 1] ?? 0)) number++;
      const row = rows[number] ?? 0;
      end = putVarint(bytes, end, row - before);
      before = row;
      const head = end++;
      const next = begins[number + 1] ?? 0;
      let last = (begins[number] ?? 0) - 2;
      for (; place < next; place = sorted[at] ?? 0) {
        end = putVarint(bytes, end, place - last);
        last = place - 2;
        if (++at >= to) break;
      }
      const size = end - head - 1;
      if (size < 64) {
        bytes[head] = size * 2;
      } else {
        const shift = size < 8_192 ? 1 : size < 1_048_576 ? 2 : 3;
        bytes.copyWithin(head + 1 + shift, head + 1, end);
        putVarint(bytes, head, size * 2);
        end += shift;
      }
    }
    return end;
  }
}
