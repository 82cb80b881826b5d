import { isDeepStrictEqual } from 'node:util';
import { generationAudit } from '../../desk/generation-audit.ts';
import type { LedgerEntry } from '../../desk/ledger-entry.ts';
import type { AppContext } from '../../server/context.ts';
import { messageOf } from '../../shared/fault.ts';
import { pushAll } from '../../shared/push-all.ts';
import type { Progress } from '../../shared/terminal/progress.ts';
import type { Store } from '../../store/store.ts';
import { Replay } from './replay.ts';

/**
 * Checks receipts and chains, replays the ledger and compares the archive, in one snapshot. Appends to `faults`.
 * Returns the number of generations.
 */
export function auditLedger(
  { store, clock: { now } }: AppContext,
  faults: string[],
  progress: Progress['step'],
): number {
  return store.database.read(() => {
    pushAll(faults, [...store.database.schemaFaults(), ...store.desk.ledgerFaults()]);
    const corrections = {
      receipts: memo((paper) => store.desk.corrections('desk', paper)),
      facts: memo((paper) => store.desk.corrections('desk', paper, 'facts')),
    };
    const audit = generationAudit([...store.desk.verifyingKeys('desk'), ...store.desk.verifyingKeys('records')], {
      corrections: (paper, of = 'receipts') => corrections[of](paper),
    });
    const replay = new Replay();
    let isReplayed = true;
    const total = store.desk.generationCount();
    let generations = 0;
    let number = 0;
    try {
      for (const entry of store.desk.entries()) {
        number++;
        faults.push(...audit.next(entry));
        if (isReplayed) isReplayed = replayed(replay, entry, number, faults);
        if (entry.type !== 'generation') continue;
        progress('audit', ++generations, total, entry.piece.slug);
      }
    } catch (error) {
      faults.push(`ledger: the entries after ${number} cannot be read: ${messageOf(error)}`);
      return generations;
    }
    // Readers must see the newest revision.
    const revisions = audit.revisions();
    for (const { id, revision } of store.desk.pieces.shown()) {
      const newest = revisions.get(id);
      if (newest !== revision)
        faults.push(`piece ${id} shows revision ${revision}, but the newest is ${newest ?? 'none'}`);
    }
    if (isReplayed) pushAll(faults, archiveFaults(store, replay, now()));
    return generations;
  });
}

/** Remembers each result. */
function memo<T>(make: (name: string) => T): (name: string) => T {
  const made = new Map<string, T>();
  return (name) => {
    const found = made.get(name) ?? make(name);
    made.set(name, found);
    return found;
  };
}

function replayed(replay: Replay, entry: LedgerEntry, number: number, faults: string[]): boolean {
  try {
    replay.enter(entry);
    return true;
  } catch (error) {
    const why = messageOf(error).split('\n')[0];
    faults.push(`ledger: entry ${number} (${entry.type}) cannot be replayed (${why}); the archive was not compared`);
    return false;
  }
}

/** The differences between the archive's tables and a replay of the ledger. */
function archiveFaults(store: Store, replay: Replay, now: number): string[] {
  const papers = new Map([...store.desk.archivedPapers()].map((paper) => [paper.slug, paper]));
  // Airing by schedule leaves no entry. The clock once reached `latest`, even if it was set back since.
  const latest = Math.max(now, replay.newest);
  replay.airUntil(Math.min(latest, (store.desk.nextScheduled() ?? Number.POSITIVE_INFINITY) - 1));
  const faults: string[] = [];
  for (const [slug, wanted] of replay.papers) {
    const found = papers.get(slug);
    if (found === undefined) faults.push(`${slug}: the ledger has this paper, and the archive does not`);
    else faults.push(...differences(slug, { ...found }, { ...wanted }));
  }
  for (const slug of papers.keys())
    if (!replay.papers.has(slug)) faults.push(`${slug}: the archive has this paper, and the ledger does not`);

  const left = new Set(replay.pieces.keys());
  for (const found of store.desk.archivedPieces()) {
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
