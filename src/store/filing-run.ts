import type { GenerationEntry, LedgerEntry } from '../desk/ledger-entry.ts';
import type { FilingRun, LedgerStore, PieceState } from '../desk/ledger-store.ts';
import type { LogService } from '../ledger/log/leaf.ts';
import type { Manifest } from '../press/manifest.ts';
import type { LogTables } from '../transparency/log-tables.ts';
import type { PaperTable } from './papers.ts';
import type { PieceTable } from './pieces.ts';

/**
 * `place`, `setUntagged` and `setTags` do what is done for each piece on its own. `addOnAir` does the first two at once
 * for a new piece. Statements that run one after the other for many pieces take half the time that they take between
 * the other work of each piece, because what they need is still in the processor's caches.
 */
export function filingRun(
  paper: string,
  store: {
    papers: Pick<PaperTable, 'nextSeq' | 'takeSeq' | 'bumpEdition'>;
    pieces: Pick<PieceTable, 'countNew'>;
    manifest: Pick<Manifest, 'markStale'>;
    log: Pick<LogTables, 'isFilled' | 'fill'>;
    ledger: Pick<LedgerStore, 'append' | 'setGeneration' | 'isFullPressPending'>;
    place(entry: GenerationEntry): void;
    addOnAir(entry: GenerationEntry, state: PieceState): void;
    setUntagged(piece: string, state: PieceState): void;
    setTags(piece: string): void;
  },
): FilingRun {
  const { papers, pieces, manifest, log, ledger } = store;
  let firstSeq: number | null = null;
  let nextSeq: number | null = null;
  let [bumps, bumpedAt] = [0, 0];
  /** The last generation, if it is the first of a piece that has no row yet: most go on air next. */
  let unplaced: GenerationEntry | null = null;
  let entries: LedgerEntry[] = [];
  /** New pieces that go on air, by their slugs. */
  const aired = new Map<string, { entry: GenerationEntry; state: PieceState }>();
  let leaves: [LogService, string][] = [];
  /** Pieces that were added on air and are not counted yet. */
  const uncounted: { category: string; published_at: number | null }[] = [];
  let isPending = false;
  /** In the order in which they were marked last. */
  const marked = new Set<string>();
  const filled = new Map<LogService, boolean>();
  const seqOf = (): number => {
    firstSeq ??= papers.nextSeq(paper);
    nextSeq ??= firstSeq;
    return nextSeq;
  };
  const flush = (): void => {
    for (const entry of entries) ledger.append(entry);
    for (const { entry, state } of aired.values()) store.addOnAir(entry, state);
    for (const { entry } of aired.values()) if (entry.piece.tags.length > 0) store.setTags(entry.piece.id);
    for (const [service, leaf] of leaves) log.fill(service, leaf);
    entries = [];
    aired.clear();
    leaves = [];
  };
  const place = (): void => {
    if (unplaced === null) return;
    flush();
    store.place(unplaced);
    unplaced = null;
  };
  // Only a press ends this, in a transaction of its own.
  const isFullPressPending = (slug: string): boolean => {
    if (slug !== paper) return ledger.isFullPressPending(slug);
    isPending ||= ledger.isFullPressPending(slug);
    return isPending;
  };
  return {
    append(entry) {
      if (entry.type === 'generation' || entry.type === 'airing') entries.push(entry);
      else {
        flush();
        ledger.append(entry);
      }
    },
    nextSeq: (slug) => (slug === paper ? seqOf() : papers.nextSeq(slug)),
    setGeneration(entry) {
      if (entry.paper !== paper) {
        flush();
        return ledger.setGeneration(entry);
      }
      if (entry.seq !== seqOf()) throw new Error(`seq ${entry.seq} of ${paper} does not follow the last one`);
      nextSeq = entry.seq + 1;
      place();
      if (entry.piece.revision === 1) unplaced = entry;
      else {
        flush();
        store.place(entry);
      }
    },
    setNewState(entry, state) {
      const { id, slug, category, tags } = entry.piece;
      // The lists look up the marks of a single change, and need the counts immediately.
      if (entry === unplaced && state.state === 'on_air' && isFullPressPending(paper)) {
        aired.set(slug, { entry, state });
        uncounted.push({ category, published_at: state.published_at });
        unplaced = null;
      } else {
        place();
        flush();
        store.setUntagged(id, state);
        if (tags.length > 0) store.setTags(id);
      }
    },
    isWaiting: (slug) => aired.has(slug),
    flush,
    isFullPressPending,
    bumpEdition(slug, at) {
      if (slug !== paper) return papers.bumpEdition(slug, at);
      bumps++;
      bumpedAt = Math.max(bumpedAt, at);
    },
    markStale(slug, tags) {
      if (slug !== paper) return manifest.markStale(slug, tags);
      for (const tag of tags) {
        marked.delete(tag);
        marked.add(tag);
      }
    },
    logLeaf(service, entry) {
      if (!filled.has(service)) filled.set(service, log.isFilled(service));
      if (filled.get(service)) leaves.push([service, entry]);
    },
    end() {
      place();
      flush();
      if (uncounted.length > 0) pieces.countNew(paper, uncounted);
      if (firstSeq !== null && nextSeq !== null && nextSeq > firstSeq) papers.takeSeq(paper, nextSeq - 1, firstSeq - 1);
      if (bumps > 0) papers.bumpEdition(paper, bumpedAt, bumps);
      if (marked.size > 0) manifest.markStale(paper, marked);
    },
  };
}
