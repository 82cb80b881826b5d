import { type SigningPeriod, signingPeriodFaults } from './key-text.ts';
import type { Receipt } from './receipt.ts';

/** One filing of one piece, as a proof lists it. */
export interface Generation extends Pick<Receipt, 'revision' | 'seq' | 'content_hash' | 'filed_at' | 'kid'> {
  /** Hash of the receipt's signed text. */
  receipt_hash: string;
  /** The receipt, a signed note, verbatim. */
  receipt: string;
}

/** A verifier's findings from a receipt: its hash, and whether its signature is valid. */
export interface CheckedReceipt<R = Receipt> {
  /** The parsed receipt; null when it does not have the form of protocol 4.3 or 5.5. */
  receipt: R | null;
  /** `sha256:<hex>` of the receipt's signed text. */
  hash: string;
  signature: 'holds' | 'fails' | 'no_such_key';
  /** The period of the key that the receipt names; null when that key is unknown. */
  key: SigningPeriod | null;
  /** The receipt's time, or an earlier one after a correction of the clock. Empty without a receipt. */
  time: string;
}

/** The faults of a single generation; empty when there are none. */
export function generationRules(
  generation: Generation,
  { receipt, hash, signature, key, time }: CheckedReceipt,
): string[] {
  const where = `revision ${generation.revision}`;
  if (receipt === null) return [`${where}: the receipt is not a newsdesk-receipt/v1 note`];
  const faults: string[] = [];
  if (hash !== generation.receipt_hash) {
    faults.push(`${where}: receipt_hash is not the hash of the receipt's signed text`);
  }
  for (const name of ['revision', 'seq', 'content_hash', 'filed_at', 'kid'] as const) {
    if (receipt[name] !== generation[name]) {
      faults.push(`${where}: the receipt says ${name} ${receipt[name]}, not ${generation[name]}`);
    }
  }
  if (signature === 'no_such_key') faults.push(`${where}: no key with kid ${receipt.kid} is known`);
  if (signature === 'fails') faults.push(`${where}: the signature does not hold`);
  if (key !== null) faults.push(...signingPeriodFaults(`${where}: filed`, time, key));
  return faults;
}

/**
 * The faults of the chain of one piece's generations, oldest first (protocol 4.4). Revisions must count from 1 without
 * a gap, each `prev` must be the previous hash, `seq` must increase, time must not decrease, and paper and piece must
 * stay the same.
 */
export function chainRules(generations: { generation: Generation; seen: CheckedReceipt }[]): string[] {
  if (generations.length === 0) return ['there is no generation'];
  const faults: string[] = [];
  let before: { receipt: Receipt; hash: string; time: string } | null = null;
  for (const [index, { generation, seen }] of generations.entries()) {
    const where = `revision ${generation.revision}`;
    const { receipt } = seen;
    faults.push(...generationRules(generation, seen));
    if (generation.revision !== index + 1) {
      faults.push(`${where}: revision ${index + 1} is missing`);
    }
    if (receipt === null) return faults;
    const prev = before?.hash ?? null;
    if (receipt.prev !== prev) {
      faults.push(`${where}: prev is ${receipt.prev ?? 'none'}, but the generation before it is ${prev ?? 'none'}`);
    }
    if (before !== null) {
      const last = before.receipt;
      if (receipt.paper !== last.paper || receipt.piece !== last.piece) {
        faults.push(`${where}: it belongs to ${receipt.paper}/${receipt.piece}, not to ${last.paper}/${last.piece}`);
      }
      if (receipt.seq <= last.seq) faults.push(`${where}: seq ${receipt.seq} does not come after ${last.seq}`);
      if (seen.time < before.time) faults.push(`${where}: it was filed before the generation that it follows`);
    }
    before = { receipt, hash: generation.receipt_hash, time: seen.time };
  }
  return faults;
}
