import { isDeepStrictEqual } from 'node:util';
import type { Store } from '../store/store.ts';
import type { Replay } from './replay.ts';

/** Where the archive's tables differ from a replay of the ledger. */
export function archiveFaults(store: Store, replay: Replay, now: number): string[] {
  const papers = new Map([...store.archivedPapers()].map((paper) => [paper.slug, paper]));
  replay.airUntil(lastAired(store, Math.max(now, replay.newest)));
  const faults: string[] = [];
  for (const [slug, wanted] of replay.papers) {
    const found = papers.get(slug);
    if (found === undefined) faults.push(`${slug}: the ledger has this paper, and the archive does not`);
    else faults.push(...differences(slug, { ...found }, { ...wanted }));
  }
  for (const slug of papers.keys())
    if (!replay.papers.has(slug)) faults.push(`${slug}: the archive has this paper, and the ledger does not`);

  const left = new Set(replay.pieces.keys());
  for (const found of store.archivedPieces()) {
    const name = `${found.paper}/${found.slug}`;
    const wanted = replay.pieces.get(found.id);
    left.delete(found.id);
    if (wanted === undefined) faults.push(`${name}: the archive has this piece, and the ledger does not`);
    else faults.push(...differences(name, { ...found }, { ...wanted }));
  }
  for (const id of left) {
    const { paper, slug } = replay.pieces.get(id) ?? {};
    faults.push(`${paper}/${slug}: the ledger has this piece, and the archive does not`);
  }
  return faults;
}

/**
 * The time up to which scheduled pieces were published, which no entry records. The clock has reached `latest`,
 * though it may have been set back since. Pieces that fell due after the last check are still scheduled.
 */
function lastAired(store: Store, latest: number): number {
  const next = store.nextScheduled();
  return next === null ? latest : Math.min(latest, next - 1);
}

function differences(name: string, found: Record<string, unknown>, wanted: Record<string, unknown>): string[] {
  return Object.keys(found)
    .filter((field) => !isDeepStrictEqual(found[field], wanted[field]))
    .map((field) => `${name}: the archive says ${field} ${shown(found[field])}, the ledger ${shown(wanted[field])}`);
}

/** A value in a message, shortened. */
function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
