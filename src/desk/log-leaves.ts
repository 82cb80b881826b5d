import { sha256 } from '../proof/basis.ts';
import { fromBase64, toBase64url } from '../proof/bytes.ts';
import { type LogService, leafText } from '../proof/log/leaf.ts';
import { receiptHashLeaf } from '../proof/log/logged-entries.ts';
import { isoTime } from '../proof/time.ts';
import type { KeyEntry, RetirementEntry, WithdrawalEntry } from './ledger-entry.ts';
import type { LedgerStore } from './ledger-store.ts';

/**
 * What the transparency log says about a ledger (protocol 7.2). It keeps one promise: a piece with a public leaf is on
 * air in a public paper, or a withdrawal leaf came after it. All other signed documents leave only a hash, which nobody
 * can guess because it covers a signature.
 */

/** The services whose receipts the filing door's key signs. Each log states the keys of its own service. */
export const LOG_SERVICES: readonly LogService[] = ['desk', 'records'];

/** The reason in the leaves of a paper that turned private. Public, so that readers can recognize its hash. */
export const TURNED_PRIVATE = 'the paper is no longer public';

/** The leaf of a new key, in the log of `service`. */
export function keyLeaf(service: LogService, { kid, public_key, at }: Omit<KeyEntry, 'type' | 'name'>): string {
  const x = toBase64url(fromBase64(public_key) ?? new Uint8Array());
  return leafText({ kind: 'key', service, kid, x, nbf: isoTime(at) });
}

/** The leaf of a key's retirement, in the log of `service`. */
export function retirementLeaf(service: LogService, { kid, at }: Omit<RetirementEntry, 'type'>): string {
  return leafText({ kind: 'key-retired', service, kid, retired_at: isoTime(at) });
}

/** The leaf of a receipt: the whole note when it `isPublic`, else only its hash. */
export function receiptLeaf(note: string, isPublic: boolean): string {
  return isPublic ? note : receiptHashLeaf(note);
}

/** Logs a piece that goes on air: the notes of all its revisions, because its proof shows them all. */
export function logAiring(store: LedgerStore, paper: string, piece: string): void {
  if (!isPublic(store, paper)) return;
  for (const { receipt } of store.archive(paper).generations(piece)) store.logLeaf('desk', receipt);
  logFacts(store, paper, piece);
  logEvidence(store, paper, piece);
}

/** Logs the facts that a piece on air in public cites: all their versions, because a fact's document shows them all. */
export function logFacts(store: LedgerStore, paper: string, piece: string): void {
  for (const note of store.archive(paper).factReceiptsOf(piece)) store.logLeaf('desk', note);
}

/** Logs the evidence of every reading for what a piece on air in public cites. */
export function logEvidence(store: LedgerStore, paper: string, piece: string): void {
  for (const note of store.archive(paper).evidenceNotesOf(piece)) store.logLeaf('desk', note);
}

/** Logs that a piece leaves the air. Skips private papers: nothing was public, and a hashed reason could be guessed. */
export function logWithdrawal(store: LedgerStore, entry: WithdrawalEntry): void {
  if (isPublic(store, entry.paper)) store.logLeaf('desk', withdrawalLeaf(entry));
}

/** Logs that a paper turned public or private, and everything that is on air in it. */
export function logPaper(store: LedgerStore, paper: string, wasPublic: boolean, at: number): void {
  const isNow = isPublic(store, paper);
  if (wasPublic === isNow) return;
  if (isNow) for (const note of store.archive(paper).clockNotes()) store.logLeaf('desk', note);
  for (const { piece, receipt, is_newest } of store.archive(paper).receiptsOnAir()) {
    if (isNow) store.logLeaf('desk', receipt);
    if (isNow && is_newest) logEvidence(store, paper, piece);
    else if (!isNow && is_newest) store.logLeaf('desk', withdrawalLeaf({ paper, piece, at, reason: TURNED_PRIVATE }));
  }
  if (isNow) for (const note of store.archive(paper).factReceiptsOnAir()) store.logLeaf('desk', note);
}

/** Logs a key, or its retirement, in the logs of both services. */
export function logKey(store: LedgerStore, entry: KeyEntry | RetirementEntry): void {
  for (const service of LOG_SERVICES) {
    store.logLeaf(service, entry.type === 'key' ? keyLeaf(service, entry) : retirementLeaf(service, entry));
  }
}

/** Whether a paper exists and is public. */
export function isPublic(store: Pick<LedgerStore, 'hasPaper' | 'archive'>, paper: string): boolean {
  return store.hasPaper(paper) && store.archive(paper).paper().paper_public;
}

function withdrawalLeaf({ paper, piece, at, reason }: Omit<WithdrawalEntry, 'type' | 'made_by'>): string {
  return leafText({ kind: 'withdrawal', paper, piece, at: isoTime(at), reason: sha256(reason) });
}
