import type { GenerationEntry } from '../desk/ledger-entry.ts';
import type { FilingRun, LedgerStore, PieceState } from '../desk/ledger-store.ts';
import type { LogService } from '../ledger/log/leaf.ts';
import type { Manifest } from '../press/manifest.ts';
import type { LogTables } from '../transparency/log-tables.ts';
import type { PaperTable } from './papers.ts';
import type { PieceTable } from './pieces.ts';

/**
 * `place`, `setUntagged` and `setTags` do what is done for each piece on its own. `addOnAir` does the first two at once
 * for a new piece.
 */
export function filingRun(
  paper: string,
  store: {
    papers: Pick<PaperTable, 'nextSeq' | 'takeSeq' | 'bumpEdition'>;
    pieces: Pick<PieceTable, 'countNew'>;
    manifest: Pick<Manifest, 'markStale'>;
    log: Pick<LogTables, 'isFilled' | 'fill'>;
    ledger: Pick<LedgerStore, 'setGeneration' | 'isFullPressPending'>;
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
  const place = (): void => {
    if (unplaced !== null) store.place(unplaced);
    unplaced = null;
  };
  // Only a press ends this, in a transaction of its own.
  const isFullPressPending = (slug: string): boolean => {
    if (slug !== paper) return ledger.isFullPressPending(slug);
    isPending ||= ledger.isFullPressPending(slug);
    return isPending;
  };
  return {
    nextSeq: (slug) => (slug === paper ? seqOf() : papers.nextSeq(slug)),
    setGeneration(entry) {
      if (entry.paper !== paper) return ledger.setGeneration(entry);
      if (entry.seq !== seqOf()) throw new Error(`seq ${entry.seq} of ${paper} does not follow the last one`);
      nextSeq = entry.seq + 1;
      place();
      if (entry.piece.revision === 1) unplaced = entry;
      else store.place(entry);
    },
    setNewState(entry, state) {
      const { id, category, tags } = entry.piece;
      // The marks of a single change are found by the lists, which need the counts at once.
      if (entry === unplaced && state.state === 'on_air' && isFullPressPending(paper)) {
        store.addOnAir(entry, state);
        uncounted.push({ category, published_at: state.published_at });
        unplaced = null;
      } else {
        place();
        store.setUntagged(id, state);
      }
      if (tags.length > 0) store.setTags(id);
    },
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
      if (filled.get(service)) log.fill(service, entry);
    },
    end() {
      place();
      if (uncounted.length > 0) pieces.countNew(paper, uncounted);
      if (firstSeq !== null && nextSeq !== null && nextSeq > firstSeq) papers.takeSeq(paper, nextSeq - 1, firstSeq - 1);
      if (bumps > 0) papers.bumpEdition(paper, bumpedAt, bumps);
      if (marked.size > 0) manifest.markStale(paper, marked);
    },
  };
}
