/** Something in a prose, and where: an offset in UTF-16 units. */
export interface Occurrence {
  text: string;
  offset: number;
}

/** Lines of a block: the first, and the one after the last. */
export type LineRange = readonly [first: number, end: number];

/**
 * How many characters may be read for texts that are not found, for each
 * character of the prose: a text is spelled otherwise there when it was decoded.
 */
const MISSED_MAX = 16;

/** Finds where texts of a prose stand, asked for in their order, in time that grows with the prose alone. */
export class TextLocator {
  readonly #prose: string;
  /** The offset of each line. */
  readonly #starts = [0];
  /** Where the last text that was found ends. */
  #cursor = 0;
  #missesLeft: number;

  constructor(prose: string) {
    this.#prose = prose;
    this.#missesLeft = prose.length * MISSED_MAX;
    for (let at = prose.indexOf('\n'); at !== -1; at = prose.indexOf('\n', at + 1)) this.#starts.push(at + 1);
  }

  /** Where a text stands within a block; where it is spelled otherwise there, the block. */
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
