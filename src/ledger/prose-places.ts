/** A text found in prose, and its offset in UTF-16 units. */
export interface Occurrence {
  text: string;
  offset: number;
}

/** The lines of a block: its first, and the one after its last. */
export type LineRange = readonly [first: number, end: number];

/**
 * Maximum number of characters scanned in unsuccessful searches, per character of the prose. A search fails when the
 * prose spells the text differently, before decoding.
 */
const MISSED_MAX = 16;

/** Finds the offsets of texts in prose, given in order, in linear time. */
export class TextLocator {
  readonly #prose: string;
  /** The offset of each line. */
  readonly #starts = [0];
  /** The end of the last text found. */
  #cursor = 0;
  #missesLeft: number;

  constructor(prose: string) {
    this.#prose = prose;
    this.#missesLeft = prose.length * MISSED_MAX;
    for (let at = prose.indexOf('\n'); at !== -1; at = prose.indexOf('\n', at + 1)) this.#starts.push(at + 1);
  }

  /** The position of a text within a block, or the block's start when the text is spelled differently. */
  locate(text: string, [first, end]: LineRange): Occurrence {
    const start = this.#starts[first] ?? 0;
    const block = this.#prose.slice(Math.max(start, this.#cursor), this.#starts[end]);
    const at = this.#missesLeft > 0 ? block.indexOf(text) : -1;
    if (at === -1) {
      this.#missesLeft -= block.length;
      return { text, offset: start };
    }
    const offset = Math.max(start, this.#cursor) + at;
    this.#cursor = offset + text.length;
    return { text, offset };
  }
}
