import { putVarint, varintLength } from './varint.ts';

/** From so many bytes on, a page ends after the number that is being written: FTS5's own size, for pages of 4 kB. */
const PAGE = 4_050;
/** Where a page's offsets of its first row id and of its footer end. */
const HEADER = 4;

/**
 * Writes the pages of a segment, in the format at the head of SQLite's fts5_index.c: terms ascending, each with its
 * documents ascending, each with its places. What FTS5 may do without is left out, as its next merge adds it: the
 * indexes of long lists of documents.
 */
export class SegmentPages {
  /** Where the bytes of each page are in `blob`, from 1 on. */
  readonly pages: [start: number, length: number][] = [];
  /** The beginnings of pages' first terms, which tell them from all terms before: where they are, and the page's `pgno`. */
  readonly terms: [start: number, length: number, pgno: number][] = [];
  #blob = new Uint8Array(2 ** 22);
  #end = HEADER;
  /** Where the page begins. */
  #page = 0;
  /** The offsets of the page's terms, each less the one before. */
  readonly #footer = new Uint8Array(PAGE + 16);
  #footerEnd = 0;
  #lastTerm = 0;
  #row = 0;

  /** Begins the term that consists of the byte `mark` and of a word. It has `common` bytes in common with the one before. */
  term(mark: number, common: number, words: Uint8Array, start: number, length: number): void {
    if (this.#end - this.#page + this.#footerEnd + length > PAGE && this.#end > this.#page + HEADER) this.endPage();
    this.#reserve(length);
    const at = this.#end - this.#page;
    this.#footerEnd = putVarint(this.#footer, this.#footerEnd, at - this.#lastTerm);
    const kept = this.#lastTerm === 0 ? 0 : common;
    if (this.#lastTerm > 0) this.#end = putVarint(this.#blob, this.#end, kept);
    this.#end = putVarint(this.#blob, this.#end, length + 1 - kept);
    if (this.#lastTerm === 0) this.terms.push([this.#end + 1, common + 1, 2 * (this.pages.length + 1)]);
    if (kept === 0) this.#blob[this.#end++] = mark;
    for (let byte = start + Math.max(0, kept - 1); byte < start + length; byte++) {
      this.#blob[this.#end++] = words[byte] ?? 0;
    }
    this.#lastTerm = at;
    this.#row = 0;
  }

  /** Adds a document, and its places in it: those from `from` to `to`, less `begin`. */
  document(row: number, places: Uint32Array, from: number, to: number, begin: number): void {
    let size = to - from;
    for (let at = from, last = begin - 2; at < to; at++) {
      const distance = (places[at] ?? 0) - last;
      if (distance >= 128) size += varintLength(distance) - 1;
      last += distance - 2;
    }
    if (this.#row === 0 && this.#lastTerm === 0) this.#putShort(0, this.#end - this.#page);
    let blob = this.#blob;
    let full = this.#page + PAGE - this.#footerEnd;
    let end = putVarint(blob, this.#end, row - this.#row);
    end = putVarint(blob, end, size * 2);
    this.#row = row;
    for (let at = from, last = begin - 2; at < to; at++) {
      const distance = (places[at] ?? 0) - last;
      end = putVarint(blob, end, distance);
      last += distance - 2;
      if (end < full) continue;
      this.#end = end;
      this.endPage();
      blob = this.#blob;
      end = this.#end;
      full = this.#page + PAGE;
    }
    this.#end = end;
  }

  endPage(): void {
    if (this.#end === this.#page + HEADER) return;
    this.#putShort(2, this.#end - this.#page);
    this.#blob.set(this.#footer.subarray(0, this.#footerEnd), this.#end);
    this.#end += this.#footerEnd;
    this.pages.push([this.#page + 1, this.#end - this.#page]);
    this.#page = this.#end;
    this.#end += HEADER;
    [this.#footerEnd, this.#lastTerm, this.#row] = [0, 0, 0];
    this.#reserve(0);
  }

  get blob(): Uint8Array {
    return this.#blob.subarray(0, this.#page);
  }

  /** Makes room for the rest of the page and a term of so many bytes. */
  #reserve(length: number): void {
    if (this.#blob.length > this.#end + length + 2 * PAGE) return;
    this.#blob = new Uint8Array(this.#blob.buffer.transfer(2 * (this.#blob.length + length)));
  }

  #putShort(at: number, value: number): void {
    this.#blob[this.#page + at] = value >> 8;
    this.#blob[this.#page + at + 1] = value & 255;
  }
}
