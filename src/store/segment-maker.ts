import { writeLists } from './segment-lists.ts';
import { SegmentPages } from './segment-pages.ts';
import { segmentWords } from './segment-words.ts';
import { varints } from './varint.ts';

/** What is indexed under a row id. */
export interface IndexedWords {
  place: number;
  words: string;
}

/** One segment, for any number in the index. */
export interface SearchSegment extends Pick<SegmentPages, 'pages' | 'terms'> {
  /** Each row id, ascending, with the count of its words as FTS5 stores it, in hexadecimal. */
  sizes: [place: number, count: string][];
  /** The words of all of them. */
  words: number;
  /** The bytes of the pages. */
  blob: Uint8Array;
}

/** Makes a segment of the search index without FTS5, which spends most of its time on looking up each prefix of each word. */
export function makeSegment(docs: readonly IndexedWords[]): SearchSegment {
  const sorted = [...docs].sort((a, b) => a.place - b.place);
  const places = sorted.map(({ place }) => place);
  if (places.some((place, at) => place <= (places[at - 1] ?? 0))) throw new RangeError('row ids are equal, or below 1');
  const words = segmentWords(sorted.map((doc) => doc.words));
  const pages = new SegmentPages();
  writeLists(words, places, pages);
  const { begins } = words;
  const sizes = places.map((place, at): SearchSegment['sizes'][number] => {
    const count = varints([(begins[at + 1] ?? 0) - (begins[at] ?? 0)]);
    return [place, Buffer.from(count).toString('hex')];
  });
  return { sizes, words: words.text.length, pages: pages.pages, terms: pages.terms, blob: pages.blob };
}
