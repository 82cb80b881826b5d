import type { Context } from 'hono';
import type { CountedPage, PageCountTable, PageReads } from '../../src/desk/page-counts.ts';
import { dayOf } from '../../src/proof/time.ts';
import type { DeskEnv } from '../env.ts';
import { Flushing } from './flushing.ts';

/** The most pages that are remembered between two writes; reads of further pages are counted only by kind. */
const REMEMBERED_MAX = 10_000;

/**
 * Counts reads of pages in memory, and writes the sums every few seconds and at the end. It looks at no address, cookie
 * or user agent, and remembers none.
 */
export class PageCounts {
  readonly #table: PageCountTable;
  readonly #reads = new Map<string, PageReads>();
  readonly #flushing: Flushing;

  /** `failed` is called with the first error since sums were written. */
  constructor(table: PageCountTable, failed: (error: unknown) => void) {
    this.#table = table;
    this.#flushing = new Flushing(() => this.flush(), failed);
  }

  /** Counts a response that was sent, if it is a page that a browser opened. */
  note(c: Context<DeskEnv>, status: number, paper: string, page: () => CountedPage | null, at: number): void {
    if (status !== 200 || c.req.method !== 'GET' || !isOpened(c)) return;
    const found = page();
    if (found === null) return;
    const day = dayOf(at);
    const keyOf = ({ kind, page: name }: CountedPage) => `${paper} ${day} ${kind} ${name}`;
    const isFull = this.#reads.size >= REMEMBERED_MAX && !this.#reads.has(keyOf(found));
    const counted = isFull ? { ...found, page: '' } : found;
    const known = this.#reads.get(keyOf(counted));
    if (known !== undefined) known.reads++;
    else this.#reads.set(keyOf(counted), { ...counted, paper, day, reads: 1 });
  }

  /** Writes the remembered sums. On failure they stay remembered. */
  flush(): void {
    if (this.#reads.size === 0) return;
    this.#table.add([...this.#reads.values()]);
    this.#reads.clear();
  }

  close(): void {
    this.#flushing.close();
  }
}

/**
 * Whether a browser opened the page: all current browsers send `Sec-Fetch-Dest` to https addresses, and most programs
 * do not. Prefetched pages do not count.
 */
function isOpened(c: Context<DeskEnv>): boolean {
  const purpose = c.req.header('sec-purpose') ?? c.req.header('purpose') ?? '';
  return c.req.header('sec-fetch-dest') === 'document' && !purpose.includes('prefetch');
}
