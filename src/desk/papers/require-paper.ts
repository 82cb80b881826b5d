import { Fault } from '../../shared/fault.ts';
import type { LedgerStore } from '../ledger-store.ts';

/** Throws `not_found`, with a list of the existing papers, when the paper does not exist. */
export function requirePaper(
  { store }: { store: { desk: Pick<LedgerStore, 'hasPaper' | 'paperSlugs'> } },
  paper: string,
): void {
  if (store.desk.hasPaper(paper)) return;
  const papers = store.desk.paperSlugs().join(', ') || 'none';
  throw new Fault('not_found', `there is no paper ${JSON.stringify(paper)}; there are ${papers}`);
}
