import { putVarint, varintAt, varintLength } from './varint.ts';

/** How much FTS5 writes on a page, in bytes, unless it is told otherwise. A term or a number may go beyond it. */
const PAGE = 4_050;
/** From so many pages without a term on, a list of documents has an index of its own. */
const INDEXED_FROM = 4;
/** The row id of a page has its number in the lowest bits, then its height in the index of a list, then a bit for those. */
const [HEIGHT, OF_INDEX] = [2 ** 31, 2 ** 36];

/** Row ids without the segment's number, where the bytes begin in `blob`, from 1 on, and how many they are. */
export type PageRow = [at: number, start: number, length: number];
/** The first word of pages: where its bytes are, and the row's `pgno`. */
export type TermRow = [start: number, length: number, pgno: number];

/** A page of the index of a list of documents. */
interface IndexPage {
  bytes: number[];
  number: number;
  last: number | null;
}

/**
 * The pages of a segment, as FTS5 writes what it has in memory (fts5FlushOneHash and what it calls, in fts5_index.c).
 * They are the same byte for byte, so that a test can compare them.
 */
export class SegmentPages {
  #page = new Uint8Array(2 ** 13);
  #end = 4;
  /** Where the terms of the page are. */
  readonly #footer = new Uint8Array(2 ** 13);
  #footerEnd = 0;
  #lastTermAt = 0;
  #number = 1;
  #hasTerm = false;
  #hasDocument = false;
  /** The last term. */
  #term = new Uint8Array(64);
  #termLength = 0;
  /** The page that began with a term last, and what tells this term from the one before; 0 when that is written. */
  #split = 1;
  #splitTerm = new Uint8Array();
  #withoutTerm = 0;
  #index: IndexPage[] = [{ bytes: [], number: 0, last: null }];

  #blob: Uint8Array;
  #blobEnd = 0;
  readonly #pages: PageRow[] = [];
  readonly #indexPages: PageRow[] = [];
  readonly #terms: TermRow[] = [];

  /** `expected` is how many bytes there will be, about. */
  constructor(expected: number) {
    this.#blob = new Uint8Array(expected);
  }

  /** Adds the term that consists of `mark` and a word, with its list of documents: the first `size` bytes of `list`. */
  add(mark: number, words: Uint8Array, start: number, length: number, list: Uint8Array, size: number): void {
    this.#addTerm(mark, words, start, length);
    if (PAGE >= this.#end + this.#footerEnd + size + 1) this.#copy(list, 0, size);
    else this.#addLong(list, size);
  }

  /** Keeps other bytes beside the pages. */
  put(bytes: Uint8Array, length: number): [start: number, length: number] {
    if (this.#blob.length < this.#blobEnd + length) this.#blob = larger(this.#blob, this.#blobEnd + length);
    this.#blob.set(length === bytes.length ? bytes : bytes.subarray(0, length), this.#blobEnd);
    this.#blobEnd += length;
    return [this.#blobEnd - length + 1, length];
  }

  /** Ends the segment. */
  finish(): { pages: PageRow[]; terms: TermRow[]; last_page: number; blob: Uint8Array } {
    if (this.#end > 4) this.#endPage();
    this.#endSplit();
    return {
      pages: [...this.#pages, ...this.#indexPages.sort(([a], [b]) => a - b)],
      terms: this.#terms,
      last_page: this.#number - 1,
      blob: this.#blob.subarray(0, this.#blobEnd),
    };
  }

  #addTerm(mark: number, words: Uint8Array, start: number, rest: number): void {
    const length = rest + 1;
    if (this.#end + this.#footerEnd + length + 2 >= PAGE && this.#end > 4) this.#endPage();
    if (this.#page.length < PAGE + length + 64) this.#page = larger(this.#page, PAGE + length + 64);
    if (this.#term.length < length) this.#term = larger(this.#term, length);
    const page = this.#page;
    const term = this.#term;
    this.#footerEnd = putVarint(this.#footer, this.#footerEnd, this.#end - this.#lastTermAt);
    this.#lastTermAt = this.#end;
    let common = 0;
    const most = Math.min(this.#termLength, length);
    if (most > 0 && term[0] === mark) {
      common = 1;
      while (common < most && term[common] === words[start + common - 1]) common++;
    }
    const isFirst = this.#termLength === 0;
    term[0] = mark;
    for (let at = Math.max(1, common); at < length; at++) term[at] = words[start + at - 1] ?? 0;
    this.#termLength = length;
    if (this.#hasTerm) {
      this.#end = putVarint(page, this.#end, common);
    } else {
      if (this.#number !== 1) {
        this.#endSplit();
        this.#split = this.#number;
        this.#splitTerm = term.slice(0, isFirst ? length : common + 1);
      }
      common = 0;
    }
    this.#end = putVarint(page, this.#end, length - common);
    for (let at = common; at < length; at++) page[this.#end++] = term[at] ?? 0;
    this.#hasTerm = true;
    this.#hasDocument = true;
    const [index] = this.#index;
    if (index !== undefined) index.number = this.#number;
  }

  /** Adds a list that does not fit on the page. */
  #addLong(list: Uint8Array, size: number): void {
    let row = 0;
    let before = 0;
    for (let at = 0; at < size; ) {
      const length = varintLength(list, at);
      row += varintAt(list, at, length);
      at += length;
      if (this.#hasDocument) {
        this.#end = putVarint(this.#page, this.#end, row - before);
      } else {
        setShort(this.#page, 0, this.#end);
        this.#end = putVarint(this.#page, this.#end, row);
        this.#hasDocument = true;
        this.#addToIndex(row);
      }
      before = row;
      const head = varintLength(list, at);
      const end = at + head + Math.floor(varintAt(list, at, head) / 2);
      if (this.#end + this.#footerEnd + end - at <= PAGE) {
        this.#copy(list, at, end);
        at = end;
      }
      // Places may go on on the next page, but no number does.
      while (at < end) {
        const space = PAGE - this.#end - this.#footerEnd;
        const until = end - at <= space ? end : prefixEnd(list, at, space);
        this.#copy(list, at, until);
        at = until;
        if (this.#end + this.#footerEnd >= PAGE) this.#endPage();
      }
    }
  }

  #copy(from: Uint8Array, start: number, end: number): void {
    const page = this.#page;
    if (end - start > 64) {
      page.set(from.subarray(start, end), this.#end);
      this.#end += end - start;
      return;
    }
    let to = this.#end;
    for (let at = start; at < end; at++) page[to++] = from[at] ?? 0;
    this.#end = to;
  }

  #endPage(): void {
    setShort(this.#page, 2, this.#end);
    if (this.#hasTerm) {
      if (this.#page.length < this.#end + this.#footerEnd) this.#page = larger(this.#page, this.#end + this.#footerEnd);
      this.#copy(this.#footer, 0, this.#footerEnd);
    } else {
      const [index] = this.#index;
      if (!this.#hasDocument && index !== undefined && index.bytes.length > 0) index.bytes.push(0);
      this.#withoutTerm++;
    }
    this.#pages.push([this.#number, ...this.put(this.#page, this.#end)]);
    this.#page.fill(0, 0, 4);
    [this.#end, this.#footerEnd, this.#lastTermAt] = [4, 0, 0];
    this.#number++;
    [this.#hasTerm, this.#hasDocument] = [false, false];
  }

  /** Notes the first term of a page, once the list of its last term has ended. */
  #endSplit(): void {
    if (this.#split === 0) return;
    const isIndexed = (this.#index[0]?.bytes.length ?? 0) > 0 && this.#withoutTerm >= INDEXED_FROM;
    for (const [height, page] of this.#index.entries()) {
      if (page.bytes.length === 0) break;
      if (isIndexed) this.#putIndex(height, page);
      page.bytes = [];
      page.last = null;
    }
    this.#withoutTerm = 0;
    this.#terms.push([...this.put(this.#splitTerm, this.#splitTerm.length), this.#split * 2 + (isIndexed ? 1 : 0)]);
    this.#split = 0;
  }

  /** Adds the first document of a page to the index of the list. */
  #addToIndex(row: number): void {
    let isDone = false;
    for (let height = 0; !isDone; height++) {
      const page = this.#indexAt(height);
      if (page.bytes.length >= PAGE) {
        page.bytes[0] = 1;
        this.#putIndex(height, page);
        const above = this.#indexAt(height + 1);
        if (above.bytes.length === 0) {
          const skipped = 1 + varintLength(Uint8Array.from(page.bytes.slice(0, 20)), 1);
          const first = Uint8Array.from(page.bytes.slice(skipped, skipped + 9));
          above.last = varintAt(first, 0, varintLength(first, 0));
          above.number = page.number;
          pushVarints(above.bytes, 0, page.number, above.last);
        }
        page.bytes = [];
        page.last = null;
        page.number++;
      } else {
        isDone = true;
      }
      if (page.last === null) {
        const below = height === 0 ? this.#number : this.#indexAt(height - 1).number;
        pushVarints(page.bytes, isDone ? 0 : 1, below, row);
      } else {
        pushVarints(page.bytes, row - page.last);
      }
      page.last = row;
    }
  }

  #indexAt(height: number): IndexPage {
    this.#index[height] ??= { bytes: [], number: 0, last: null };
    return this.#index[height];
  }

  #putIndex(height: number, { bytes, number }: IndexPage): void {
    this.#indexPages.push([OF_INDEX + height * HEIGHT + number, ...this.put(Uint8Array.from(bytes), bytes.length)]);
  }
}

/** The end of as many whole numbers as fit into `space`, but of one at least. */
function prefixEnd(list: Uint8Array, start: number, space: number): number {
  let end = start + varintLength(list, start);
  if (end - start >= space) return end;
  for (;;) {
    const next = end + varintLength(list, end);
    if (next - start > space) return end;
    end = next;
  }
}

function setShort(page: Uint8Array, at: number, value: number): void {
  page[at] = value >> 8;
  page[at + 1] = value & 255;
}

function pushVarints(to: number[], ...values: number[]): void {
  const bytes = new Uint8Array(9);
  for (const value of values) to.push(...bytes.subarray(0, putVarint(bytes, 0, value)));
}

function larger(bytes: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(Math.max(length, bytes.length * 2));
  copy.set(bytes);
  return copy;
}
