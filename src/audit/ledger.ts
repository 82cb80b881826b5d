import type { LedgerEntry } from '../desk/ledger-entry.ts';
import { messageOf } from '../fault.ts';
import { archiveFaults } from './archive.ts';
import { generationAudit } from './generation-audit.ts';
import type { AuditParts } from './parts.ts';
import { Replay } from './replay.ts';

/**
 * Checks every receipt and chain, replays the ledger, and compares the archive's tables with the result. Appends to
 * `faults` and returns the number of generations. Reads one snapshot, so that other processes can continue to write.
 */
export function auditLedger({ store, now, progress }: AuditParts, faults: string[]): number {
  return store.read(() => {
    faults.push(...store.schemaFaults(), ...store.ledgerFaults());
    const audit = generationAudit([...store.verifyingKeys('desk'), ...store.verifyingKeys('records')], {
      corrections: memo((paper) => store.corrections('desk', paper)),
    });
    const replay = new Replay();
    let isReplayed = true;
    const total = store.generationCount();
    let generations = 0;
    let number = 0;
    try {
      for (const entry of store.entries()) {
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
    for (const { id, revision } of store.shown()) {
      const newest = revisions.get(id);
      if (newest !== revision)
        faults.push(`piece ${id} shows revision ${revision}, but the newest is ${newest ?? 'none'}`);
    }
    if (isReplayed) faults.push(...archiveFaults(store, replay, now()));
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
