import type { GenerationEntry } from '../desk/ledger-entry.ts';
import type { FilingRun, LedgerStore, PieceState } from '../desk/ledger-store.ts';
import type { LogService } from '../ledger/log/leaf.ts';
import type { Manifest } from '../press/manifest.ts';
import type { LogTables } from '../transparency/log-tables.ts';
import type { PaperTable } from './papers.ts';

/** `place` and `setUntagged` do what is done for each piece on its own. */
export function filingRun(
  paper: string,
  store: {
    papers: Pick<PaperTable, 'nextSeq' | 'takeSeq' | 'bumpEdition'>;
    manifest: Pick<Manifest, 'markStale'>;
    log: Pick<LogTables, 'isFilled' | 'fill'>;
    ledger: Pick<LedgerStore, 'setGeneration'>;
    place(entry: GenerationEntry): void;
    setUntagged(piece: string, state: PieceState): void;
  },
): FilingRun {
  const { papers, manifest, log, ledger } = store;
  let firstSeq: number | null = null;
  let nextSeq: number | null = null;
  let [bumps, bumpedAt] = [0, 0];
  /** In the order in which they were marked last. */
  const marked = new Set<string>();
  const filled = new Map<LogService, boolean>();
  const seqOf = (): number => {
    firstSeq ??= papers.nextSeq(paper);
    nextSeq ??= firstSeq;
    return nextSeq;
  };
  return {
    nextSeq: (slug) => (slug === paper ? seqOf() : papers.nextSeq(slug)),
    setGeneration(entry) {
      if (entry.paper !== paper) return ledger.setGeneration(entry);
      if (entry.seq !== seqOf()) throw new Error(`seq ${entry.seq} of ${paper} does not follow the last one`);
      nextSeq = entry.seq + 1;
      store.place(entry);
    },
    setUntagged: store.setUntagged,
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
      if (firstSeq !== null && nextSeq !== null && nextSeq > firstSeq) papers.takeSeq(paper, nextSeq - 1, firstSeq - 1);
      if (bumps > 0) papers.bumpEdition(paper, bumpedAt, bumps);
      if (marked.size > 0) manifest.markStale(paper, marked);
    },
  };
}
