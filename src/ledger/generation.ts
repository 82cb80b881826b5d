import { sha256 } from './basis.ts';
import type { DoorKey } from './keyring.ts';
import { signedByKid } from './keyring.ts';
import type { Verify } from './note.ts';
import { parseNote } from './note.ts';
import type { Receipt } from './receipt.ts';
import { parseReceipt } from './receipt.ts';

/** One filing of one piece, as a proof lists it. */
export interface Generation {
  revision: number;
  /** Per paper, from 1, without gaps. */
  seq: number;
  content_hash: string;
  /** Hash of the receipt's signed text. */
  receipt_hash: string;
  /** ISO 8601, UTC, milliseconds. */
  filed_at: string;
  kid: string;
  /** The receipt, a signed note, verbatim. */
  receipt: string;
}

/** What does not hold in one generation taken by itself; empty when all of it does. */
export function generationFaults(
  generation: Generation,
  keys: DoorKey[],
  verify: Verify,
): { receipt: Receipt | null; faults: string[] } {
  const where = `revision ${generation.revision}`;
  const note = parseNote(generation.receipt);
  const receipt = note === null ? null : parseReceipt(note.text);
  if (note === null || receipt === null) {
    return { receipt: null, faults: [`${where}: the receipt is not a newsdesk-receipt/v1 note`] };
  }
  const faults: string[] = [];
  if (sha256(note.text) !== generation.receipt_hash) {
    faults.push(`${where}: receipt_hash is not the hash of the receipt's signed text`);
  }
  for (const name of ['revision', 'seq', 'content_hash', 'filed_at', 'kid'] as const) {
    if (receipt[name] !== generation[name]) {
      faults.push(`${where}: the receipt says ${name} ${receipt[name]}, not ${generation[name]}`);
    }
  }
  if (!keys.some((key) => key.kid === receipt.kid)) {
    faults.push(`${where}: no key with kid ${receipt.kid} is known`);
  } else if (!signedByKid(note, receipt.kid, keys, verify)) {
    faults.push(`${where}: the signature does not hold`);
  }
  return { receipt, faults };
}

/**
 * What does not hold in the chain of one piece's generations, oldest first:
 * revisions from 1 without a gap, each `prev` the hash of the text before it,
 * `seq` rising, time never going back, one paper and one piece throughout.
 */
export function chainFaults(generations: Generation[], keys: DoorKey[], verify: Verify): string[] {
  if (generations.length === 0) return ['there is no generation'];
  const faults: string[] = [];
  let before: { receipt: Receipt; hash: string } | null = null;
  for (const [index, generation] of generations.entries()) {
    const where = `revision ${generation.revision}`;
    const { receipt, faults: own } = generationFaults(generation, keys, verify);
    faults.push(...own);
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
      if (receipt.filed_at < last.filed_at) faults.push(`${where}: it was filed before the generation that it follows`);
    }
    before = { receipt, hash: generation.receipt_hash };
  }
  return faults;
}
