import type { GenerationEntry, KeyEntry, LedgerEntry } from '../desk/ledger-entry.ts';
import { auditor } from '../ledger/audit.ts';
import type { VerifyingKey } from '../ledger/keyring.ts';
import { keyFaults } from '../ledger/keyring.ts';
import { isoTime } from '../time.ts';
import { archiveFaults } from './archive.ts';
import type { AuditParts } from './parts.ts';
import { Replay } from './replay.ts';

/** Feeds an auditor from ledger entries. */
export function generationAudit(
  keys: VerifyingKey[],
  options: { clock?: boolean } = {},
): { next(entry: LedgerEntry): string[]; revisions(): Map<string, number> } {
  const audit = auditor(keys, options);
  return {
    next(entry) {
      if (entry.type === 'key') return keyFaults(verifyingKeyOf(entry));
      return entry.type === 'generation' ? audit.next(audited(entry)) : [];
    },
    revisions: audit.revisions,
  };
}

/** A key as its entry lists it, before any retirement. */
export function verifyingKeyOf({ kid, name, public_key, at }: KeyEntry): VerifyingKey {
  return { kid, name, publicKey: new Uint8Array(Buffer.from(public_key, 'base64')), nbf: at, retired_at: null };
}

function audited(entry: GenerationEntry) {
  const { paper, piece, seq, content_hash, receipt, receipt_hash, kid } = entry;
  const filed_at = isoTime(entry.at);
  return { paper, piece, revision: piece.revision, seq, content_hash, receipt, receipt_hash, filed_at, kid };
}

/**
 * Checks every receipt and chain, enters the ledger anew, and compares the
 * archive's tables with what that gives: adds what does not hold, and gives how
 * many generations there are. All of it is read as of one moment, so that
 * another process may go on writing.
 */
export function auditLedger({ store, now, progress }: AuditParts, faults: string[]): number {
  return store.read(() => {
    faults.push(...store.schemaFaults(), ...store.ledgerFaults());
    const audit = generationAudit(store.doorKeys());
    const replay = new Replay();
    let isReplayed = true;
    const total = store.generationCount();
    let generations = 0;
    let number = 0;
    try {
      for (const entry of store.entries()) {
        number++;
        faults.push(...audit.next(entry));
        if (isReplayed) isReplayed = entered(replay, entry, number, faults);
        if (entry.type !== 'generation') continue;
        progress('audit', ++generations, total, entry.piece.slug);
      }
    } catch (error) {
      faults.push(`ledger: what follows entry ${number} cannot be read: ${(error as Error).message}`);
      return generations;
    }
    // What readers are shown must be the newest of what was filed.
    const revisions = audit.revisions();
    for (const { id, revision } of store.shown()) {
      const newest = revisions.get(id);
      if (newest !== revision)
        faults.push(`piece ${id} shows revision ${revision}, but ${newest ?? 'none'} is the newest`);
    }
    if (isReplayed) faults.push(...archiveFaults(store, replay, now()));
    return generations;
  });
}

function entered(replay: Replay, entry: LedgerEntry, number: number, faults: string[]): boolean {
  try {
    replay.enter(entry);
    return true;
  } catch (error) {
    const why = (error as Error).message.split('\n')[0];
    faults.push(
      `ledger: entry ${number} (${entry.type}) cannot be entered anew (${why}); the archive was not compared`,
    );
    return false;
  }
}
