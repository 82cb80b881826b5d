import { Worker } from 'node:worker_threads';
import type { DeferredPiece, SearchTables } from './search.ts';
import type { BulkIndex, PlacedPiece } from './search-bulk.ts';
import type { SearchSegment } from './segment-maker.ts';

/** How many pieces, or UTF-16 units of words, are in a segment: more of them take more memory, and hardly less time. */
const [PIECES, LENGTH] = [500, 5_000_000];
/** How many segments are being made at a time, and wait. */
const AHEAD = 2;
/** So many segments are merged into one, long before FTS5 has no room for another. */
const MERGED = 256;

/**
 * Indexes many pieces on another thread: transactions leave new pieces out of the search index, which then gets them
 * some hundred at a time. Until then no search finds them. A kill loses none: the next program that opens the database
 * indexes what is missing, and so does `end`, whatever went wrong here.
 */
export class IndexAhead {
  readonly #search: SearchTables;
  readonly #bulk: BulkIndex;
  readonly #worker: Worker;
  #waiting: DeferredPiece[] = [];
  #length = 0;
  /** What was planned, in the order in which its segments come. */
  readonly #planned: PlacedPiece[][] = [];
  readonly #made: SearchSegment[] = [];
  #added = 0;
  #isLost = false;
  #isRefused = false;
  #wake = (): void => {};

  constructor(search: SearchTables, bulk: BulkIndex) {
    this.#search = search;
    this.#bulk = bulk;
    this.#worker = new Worker(new URL('./index-worker.ts', import.meta.url), {
      resourceLimits: { maxYoungGenerationSizeMb: 48, maxOldGenerationSizeMb: 512 },
    });
    this.#worker.on('message', (segment: SearchSegment) => {
      this.#made.push(segment);
      this.#wake();
    });
    const lose = () => {
      this.#isLost = true;
      this.#wake();
    };
    this.#worker.on('error', lose).on('exit', lose);
  }

  /** Whether transactions leave new pieces to it from here on, or index them themselves. */
  defer(isWanted: boolean): void {
    this.#search.defer(isWanted && !this.#isLost && !this.#isRefused);
  }

  /** Call it between transactions. It waits while more is filed than can be indexed. */
  async step(): Promise<void> {
    this.#take();
    this.#addMade();
    while (this.#waiting.length >= PIECES || this.#length >= LENGTH) await this.#send();
  }

  /** Indexes all that was deferred. */
  async end(): Promise<void> {
    try {
      this.#search.defer(false);
      this.#take();
      while (this.#waiting.length > 0) await this.#send();
      while (this.#planned.length > 0) await this.#next();
    } finally {
      await this.#worker.terminate();
      this.#bulk.close();
      this.#search.fill();
    }
  }

  #take(): void {
    for (const piece of this.#search.takeDeferred()) {
      this.#waiting.push(piece);
      this.#length += piece.words.length;
    }
  }

  async #send(): Promise<void> {
    while (this.#planned.length >= AHEAD) await this.#next();
    const pieces = this.#waiting.splice(0, PIECES);
    this.#length = this.#waiting.reduce((sum, { words }) => sum + words.length, 0);
    if (this.#isLost) return;
    const planned = this.#bulk.plan(pieces);
    this.#worker.postMessage(planned.map(({ place, words }) => ({ place, words })));
    this.#planned.push(planned.map((piece) => ({ ...piece, words: '' })));
  }

  /** Waits for the next segment and adds it. */
  async #next(): Promise<void> {
    if (this.#made.length === 0 && !this.#isLost) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#addMade();
    if (this.#isLost) this.#planned.length = 0;
  }

  #addMade(): void {
    for (const segment of this.#made.splice(0)) {
      const why = this.#bulk.add(this.#planned.shift() ?? [], segment);
      if (why !== null) this.#isRefused = true;
      else if (++this.#added % MERGED === 0) this.#search.optimize();
    }
  }
}
