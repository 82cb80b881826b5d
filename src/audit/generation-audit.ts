import type { GenerationEntry, KeyEntry, LedgerEntry } from '../desk/ledger-entry.ts';
import { generationAuditor } from '../ledger/audit.ts';
import type { VerifyingKey } from '../ledger/keyring.ts';
import { keyFaults } from '../ledger/keyring.ts';
import { isoTime } from '../time.ts';

/** Checks the keys, receipts and chains of ledger entries, one entry at a time. `keys` may grow while it runs. */
export function generationAudit(
  keys: VerifyingKey[],
  options: { clock?: boolean } = {},
): { next(entry: LedgerEntry): string[]; revisions(): Map<string, number> } {
  const audit = generationAuditor(keys, options);
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
