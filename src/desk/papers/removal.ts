import { isoTime } from '../../proof/time.ts';
import type { AppStore } from '../../server/context.ts';
import { CLI } from '../../shared/command-line.ts';
import { Fault } from '../../shared/fault.ts';
import { airDue, append } from '../append.ts';
import { dependencies } from '../dependencies.ts';
import type { Desk } from '../file-story.ts';
import { giveOwnHost, type HostGrants, requireFreeAddress } from './host.ts';
import { PaperBody } from './paper.ts';

/** The reason in the withdrawals of a paper that is removed. Readers may see it if the paper comes back. */
export const REMOVAL_REASON = 'the paper was removed';

type DeskStore = AppStore['desk'];

/** Why nothing more can be filed to a removed paper, and the remedy; null for any other slug. */
export function removedProblem(store: Pick<DeskStore, 'removedPaper'>, slug: string): string | null {
  const removed = store.removedPaper(slug);
  if (removed === null) return null;
  return `${slug} was removed on ${isoTime(removed.removed_at).slice(0, 10)}, and nothing is filed to it; bring it back with \`${CLI} paper restore ${slug}\`, or delete or rename the folder`;
}

/** The counts of what a removal ended. */
export interface Removal {
  /** Pieces that were on air or scheduled. */
  withdrawn: number;
  /** Receipts, which stay in the ledger and in the log. */
  receipts: number;
  /** Readers whose addresses were erased. */
  readers: number;
  /** Keys that were revoked. */
  keys: number;
}

/**
 * Removes a paper, in one transaction: withdraws what is on air or scheduled, appends a record without a body, erases
 * the addresses of its readers, and revokes its keys. The next press removes its tree. Throws `not_found`.
 */
export function removePaper(
  { store, now: clock }: { store: DeskStore; now: Desk['now'] },
  slug: string,
  by: string,
): Removal {
  // No subscriber remains to receive the withdrawals.
  const silent: DeskStore = { ...store, emit() {} };
  return store.transact(() => {
    if (store.paper(slug) === null) throw new Fault('not_found', `there is no paper ${JSON.stringify(slug)}`);
    const receipts = store.nextSeq(slug) - 1;
    const readers = store.removals.eraseReaders(slug);
    const archive = store.archive(slug);
    const now = clock();
    airDue(silent, now);
    const pieces = [...archive.receiptsOnAir()].flatMap(({ piece, is_newest }) => (is_newest ? [piece] : []));
    for (const { slug: name } of archive.scheduled()) pieces.push(archive.storyBySlug(name)?.id ?? '');
    // Marks the whole paper as stale first, so that no withdrawal has to work out which pages show the piece.
    store.markStale(slug, [dependencies.config]);
    let last = now;
    for (const piece of pieces) {
      // A withdrawal must not precede the last change that readers saw.
      const at = Math.max(now, archive.storyById(piece)?.updated_at ?? 0);
      append(silent, { type: 'withdrawal', at, paper: slug, piece, reason: REMOVAL_REASON, made_by: by }, now);
      last = Math.max(last, at);
    }
    append(silent, { type: 'record', at: last, paper: slug, kind: 'paper', name: '', body: null }, now);
    return { withdrawn: pieces.length, receipts, readers, keys: store.removals.revokeKeys(slug, now, by) };
  });
}

/**
 * Restores a removed paper, with all of its pieces off the air. Returns its record. Throws `not_found` when it was not
 * removed, `refused_by_door` when another paper is served at its address now.
 */
export function restorePaper(grants: HostGrants & { store: DeskStore }, slug: string): PaperBody {
  const { store, now } = grants;
  return store.transact(() => {
    const removed = store.removedPaper(slug);
    if (removed === null) throw new Fault('not_found', `${JSON.stringify(slug)} is not a paper that was removed`);
    const { slug: _slug, edition: _edition, changed_at: _changed, removed_at: _removed, ...record } = removed;
    const restored = PaperBody.parse(record);
    requireFreeAddress(grants, slug, restored.url);
    append(store, { type: 'record', at: now(), paper: slug, kind: 'paper', name: '', body: restored });
    giveOwnHost(grants, slug);
    return restored;
  });
}
