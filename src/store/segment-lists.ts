import type { SegmentPages } from './segment-pages.ts';
import type { SegmentWords } from './segment-words.ts';

/** The longest prefix that the search index has an index of, in characters; it has one of each length up to it. */
const PREFIX_MAX = 8;
/** How many places of the text are looked up together, as a power of two. */
const STRIDE = 6;
/** The first byte of whole words; those of prefixes follow, by their length. */
const WORDS = 48;

/**
 * Writes every word and every prefix with its documents and places, in the order of a segment. `rows` are the row ids of
 * the documents, ascending.
 */
export function writeLists(words: SegmentWords, rows: readonly number[], pages: SegmentPages): void {
  const lists = new Lists(words, rows, pages);
  lists.write(WORDS, words.length);
  const ends = new Uint32Array(words.length.length);
  for (let characters = 1; characters <= PREFIX_MAX; characters++) {
    lengthen(ends, words);
    lists.write(WORDS + characters, ends);
  }
  pages.endPage();
}

/** Lengthens each word's prefix, which ends at `ends`, by a character. It ends behind a word that is too short. */
function lengthen(ends: Uint32Array, { bytes, start, length }: SegmentWords): void {
  for (let word = 0; word < ends.length; word++) {
    const begin = start[word] ?? 0;
    const size = length[word] ?? 0;
    let end = (ends[word] ?? 0) + 1;
    while (end < size && ((bytes[begin + end] ?? 0) & 0xc0) === 0x80) end++;
    ends[word] = end;
  }
}

/**
 * Sorts the places of the text by the prefixes of one length. The words are sorted, so words of one prefix follow each
 * other and nothing is looked up: it takes a count of the words and a pass over the text.
 */
class Lists {
  readonly #words: SegmentWords;
  readonly #rows: readonly number[];
  readonly #pages: SegmentPages;
  /** The document at every 64th place of the text: few enough to stay in the processor's first cache. */
  readonly #near: Uint32Array;
  /** How often each word occurs. */
  readonly #times: Uint32Array;
  /** How many bytes each word in their order has in common with the one before it. */
  readonly #common: Uint32Array;
  /** The places of the text, sorted by their terms. */
  readonly #sorted: Uint32Array;
  /** The term of each word, from 1 on; 0 for a word that is too short. */
  readonly #termOf: Uint32Array;
  /** Where the places of each term end in `sorted`, and those of the next one begin. */
  readonly #ends: Uint32Array;

  constructor(words: SegmentWords, rows: readonly number[], pages: SegmentPages) {
    this.#words = words;
    this.#rows = rows;
    this.#pages = pages;
    this.#near = new Uint32Array((words.text.length >> STRIDE) + 1);
    for (let at = 0, number = 0; at < this.#near.length; at++) {
      while ((words.begins[number + 1] ?? Infinity) <= at << STRIDE) number++;
      this.#near[at] = number;
    }
    this.#times = new Uint32Array(words.length.length);
    for (const word of words.text) this.#times[word] = (this.#times[word] ?? 0) + 1;
    this.#common = words.order.map((word, at) => (at === 0 ? 0 : commonBytes(words, words.order[at - 1] ?? 0, word)));
    this.#sorted = new Uint32Array(words.text.length);
    this.#termOf = new Uint32Array(words.length.length);
    this.#ends = new Uint32Array(words.length.length + 1);
  }

  /** Writes the terms of one index: the first `ends` bytes of all words that have as many. */
  write(mark: number, ends: Uint32Array): void {
    const { bytes, start, length, order } = this.#words;
    const terms: { word: number; common: number }[] = [];
    let same = -1;
    let total = 0;
    for (let at = 0; at < order.length; at++) {
      const word = order[at] ?? 0;
      const end = ends[word] ?? 0;
      same = Math.min(same, this.#common[at] ?? 0);
      this.#termOf[word] = 0;
      if (end > (length[word] ?? 0)) continue;
      if (same < end) {
        terms.push({ word, common: same + 1 });
        this.#ends[terms.length] = total;
        same = end;
      }
      this.#termOf[word] = terms.length;
      total += this.#times[word] ?? 0;
    }
    this.#sort();
    for (const [at, { word, common }] of terms.entries()) {
      this.#pages.term(mark, common, bytes, start[word] ?? 0, ends[word] ?? 0);
      this.#writeDocuments(this.#ends[at] ?? 0, this.#ends[at + 1] ?? 0);
    }
  }

  /** Moves the beginnings of terms in `ends` to their ends. */
  #sort(): void {
    const { text } = this.#words;
    for (let place = 0; place < text.length; place++) {
      const term = this.#termOf[text[place] ?? 0] ?? 0;
      if (term === 0) continue;
      const at = this.#ends[term] ?? 0;
      this.#sorted[at] = place;
      this.#ends[term] = at + 1;
    }
  }

  #writeDocuments(from: number, to: number): void {
    const { begins } = this.#words;
    const sorted = this.#sorted;
    for (let at = from; at < to; ) {
      const place = sorted[at] ?? 0;
      let number = this.#near[place >> STRIDE] ?? 0;
      while ((begins[number + 1] ?? 0) <= place) number++;
      const next = begins[number + 1] ?? 0;
      let end = at + 1;
      while (end < to && (sorted[end] ?? 0) < next) end++;
      this.#pages.document(this.#rows[number] ?? 0, sorted, at, end, begins[number] ?? 0);
      at = end;
    }
  }
}

function commonBytes({ bytes, start, length }: SegmentWords, a: number, b: number): number {
  const [startA, startB] = [start[a] ?? 0, start[b] ?? 0];
  const most = Math.min(length[a] ?? 0, length[b] ?? 0);
  let same = 0;
  while (same < most && bytes[startA + same] === bytes[startB + same]) same++;
  return same;
}
