const SPACE = 0x20;
/** How many letters of a pair's second word count. */
const LETTERS = 3;

/**
 * Which words stand side by side in a text, as a Bloom filter: one bit for each word with the first letters of the next
 * one. It has as many bytes as the text has words, rounded up to a power of two, so that about one bit in ten is set. A
 * search that looks for a phrase need not read the texts whose filter lacks it. `words` are separated by spaces; a first
 * one may precede them.
 */
export function pairFilter(words: string): Uint8Array {
  let count = 1;
  for (let at = words.indexOf(' '); at >= 0; at = words.indexOf(' ', at + 1)) count++;
  const filter = new Uint8Array(2 ** Math.ceil(Math.log2(count)));
  const mask = filter.length - 1;
  const set = (hash: number): void => {
    const at = (hash >>> 3) & mask;
    filter[at] = (filter[at] as number) | (1 << (hash & 7));
  };
  let [before, hash, length] = [0, BASIS, 0];
  for (let at = 0; at <= words.length; at++) {
    const unit = at < words.length ? words.charCodeAt(at) : SPACE;
    if (unit === SPACE) {
      if (before !== 0 && length > 0 && length < LETTERS) set(paired(before, hash));
      [before, hash, length] = [length === 0 ? 0 : hash, BASIS, 0];
      continue;
    }
    hash = hashed(hash, unit);
    length++;
    if (before !== 0 && length === LETTERS) set(paired(before, hash));
  }
  return filter;
}

/** The bits that the filter of every text with this phrase has: `byte` modulo the filter's length, and `bit` in it. */
export function pairsOf(phrase: readonly string[]): { byte: number; bit: number }[] {
  // Of the last word only the beginning is known, which may be too short.
  const known = (phrase.at(-1)?.length ?? 0) < LETTERS ? phrase.slice(0, -1) : phrase;
  return known.slice(1).map((word, before) => {
    const hash = paired(wordHash(phrase[before] as string), wordHash(word.slice(0, LETTERS)));
    return { byte: hash >>> 3, bit: hash & 7 };
  });
}

/** FNV-1a over UTF-16 units. */
const BASIS = 0x811c9dc5 | 0;
const hashed = (hash: number, unit: number): number => Math.imul(hash ^ unit, 0x01000193);

function wordHash(word: string): number {
  let hash = BASIS;
  for (let at = 0; at < word.length; at++) hash = hashed(hash, word.charCodeAt(at));
  return hash;
}

function paired(first: number, second: number): number {
  let hash = Math.imul(first ^ (first >>> 15), 0x85ebca6b) ^ second;
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
