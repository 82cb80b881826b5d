import { type ClockBody, clockLeaf } from '../../../desk/clock-correction.ts';
import type { RecordEntry } from '../../../desk/ledger-entry.ts';
import { keyLeaf, receiptLeaf, retirementLeaf, TURNED_PRIVATE } from '../../../desk/log-leaves.ts';
import { PaperBody } from '../../../desk/papers/paper.ts';
import { sha256 } from '../../../proof/basis.ts';
import type { LogService } from '../../../proof/log/leaf.ts';
import { leafHash } from '../../../proof/merkle.ts';
import { isoTime } from '../../../proof/time.ts';
import { plural } from '../../../shared/plural.ts';
import type { Store } from '../../../store/store.ts';
import type { StoredLeaves } from './stored-log.ts';

/** Observations read per batch. */
const BATCH = 10_000;
/** Faults of one kind that are listed. */
const LISTED_MAX = 100;

/** Where leaves and signed records disagree: each has the other, and what is on air in public is logged verbatim. */
export function ledgerLeafFaults(store: Store, log: LogService, leaves: StoredLeaves): string[] {
  const seen = new Uint8Array(leaves.kinds.length);
  const faults: string[] = [];
  /** The index of a leaf, which has its reason with this. */
  const indexOf = (entry: string): number | null => {
    const index = store.database.log.indexOf(log, leafHash(entry));
    if (index !== null && index < seen.length) seen[index] = 1;
    return index;
  };
  const require = (entry: string, what: string): void => {
    if (indexOf(entry) === null) faults.push(`${what}: the log has no leaf of it`);
  };
  if (log === 'desk') deskFaults(store, leaves, { seen, faults, indexOf, require });
  else {
    for (const note of store.desk.clockNotes('records', ''))
      require(clockLeaf(store.desk, note), 'a correction of the clock');
    for (const { kid, publicKey, nbf, retired_at } of store.desk.keysAsEntered()) {
      const public_key = Buffer.from(publicKey).toString('base64');
      require(keyLeaf('records', { kid, public_key, at: nbf }), `key ${kid}`);
      if (retired_at !== null)
        require(retirementLeaf('records', { kid, at: retired_at }), `the retirement of key ${kid}`);
    }
    observationFaults(store, require);
  }
  const strays = [...leaves.kinds.entries()].filter(([index]) => seen[index] === 0);
  for (const [index, kind] of strays.slice(0, LISTED_MAX)) {
    faults.push(`leaf ${index} (${kind}): it has no signed record`);
  }
  if (strays.length > LISTED_MAX)
    faults.push(`${plural(strays.length - LISTED_MAX, 'more leaf', 'more leaves')} likewise`);
  return faults;
}

interface Comparison {
  /** By index, whether a leaf has its reason. */
  seen: Uint8Array;
  faults: string[];
  indexOf(entry: string): number | null;
  require(entry: string, what: string): void;
}

function deskFaults(store: Store, leaves: StoredLeaves, { seen, faults, indexOf, require }: Comparison): void {
  const withdrawals = new Set<string>();
  const clocks: RecordEntry[] = [];
  const publicPapers = new Set<string>();
  for (const entry of store.desk.entries()) {
    switch (entry.type) {
      case 'key':
        require(keyLeaf('desk', entry), `key ${entry.kid}`);
        break;
      case 'retirement':
        require(retirementLeaf('desk', entry), `the retirement of key ${entry.kid}`);
        break;
      case 'withdrawal':
        withdrawals.add(nameOf(entry.paper, entry.piece, isoTime(entry.at), sha256(entry.reason)));
        break;
      case 'record':
        if (entry.kind === 'clock' && entry.name === 'desk') clocks.push(entry);
        if (entry.kind !== 'paper') break;
        // What was on air in a removed paper was withdrawn before, piece by piece.
        if (entry.body === null) publicPapers.delete(entry.paper);
        else if (PaperBody.parse(entry.body).paper_public) publicPapers.add(entry.paper);
        else if (publicPapers.delete(entry.paper))
          withdrawals.add(nameOf(entry.paper, '', isoTime(entry.at), sha256(TURNED_PRIVATE)));
        break;
    }
  }
  for (const { index, paper, piece, at, reason } of leaves.withdrawals) {
    if (withdrawals.has(nameOf(paper, piece, at, reason)) || withdrawals.has(nameOf(paper, '', at, reason)))
      seen[index] = 1;
  }
  for (const { paper, body } of clocks) {
    // It may have been logged while the paper was private.
    const { note } = body as ClockBody;
    const logged = [true, false].map((isPublic) => indexOf(receiptLeaf(note, isPublic)));
    if (logged.every((index) => index === null))
      faults.push(`a correction of the clock for ${paper || 'keys'}: the log has no leaf of it`);
  }
  const newest = new Map(leaves.withdrawals.map(({ index, piece }) => [piece, index]));
  for (const entry of store.desk.entries()) {
    if (entry.type !== 'generation') continue;
    const { paper, piece, receipt } = entry;
    const what = `${paper}/${piece.slug} revision ${piece.revision}`;
    const [verbatim, hashed] = [indexOf(receiptLeaf(receipt, true)), indexOf(receiptLeaf(receipt, false))];
    const isOnAir = publicPapers.has(paper) && store.desk.pieceState(piece.id)?.state === 'on_air';
    if (verbatim === null && hashed === null) faults.push(`${what}: the log has no leaf of its receipt`);
    else if (verbatim === null && isOnAir)
      faults.push(`${what}: it is on air, and the log has only the hash of its receipt`);
    else if (verbatim !== null && !isOnAir && (newest.get(piece.id) ?? -1) < verbatim) {
      faults.push(`${what}: the log has its receipt, but it is not on air, and no later leaf withdraws it`);
    }
  }
}

function observationFaults({ records }: Store, require: Comparison['require']): void {
  for (let next = 1; ; next += BATCH) {
    const receipts = records.receipts(next, BATCH);
    for (const [at, receipt] of receipts.entries()) require(receiptLeaf(receipt, false), `observation ${next + at}`);
    if (receipts.length < BATCH) return;
  }
}

function nameOf(...parts: string[]): string {
  return parts.join('\n');
}
