import type { SigningPeriod } from '../../ledger/key-time.ts';
import { signingPeriodFaults } from '../../ledger/key-time.ts';
import type { Disclosed } from '../disclosure.ts';
import type { ObservationReceipt } from '../receipt.ts';

/** What a verifier has found out about one receipt by hashing and by checking its signature. */
export interface CheckedReceipt {
  /** Null when it is not a note in the form of wire.md. */
  receipt: ObservationReceipt | null;
  /** `sha256:<hex>` of the receipt's signed text. */
  hash: string;
  signature: 'holds' | 'fails' | 'no_such_key';
  /** When the key signed that the receipt names; null when no such key is known. */
  key: SigningPeriod | null;
}

// Nothing here hashes: one set of rules serves the auditor, the tests and a reader's browser.

/** What does not hold in a receipt taken by itself, its time in its key's life included; empty when all of it does. */
export function receiptRules(seen: CheckedReceipt): string[] {
  return [...signatureRules(seen), ...lifeRules(seen)];
}

/** What does not hold in a receipt's form and signature. */
export function signatureRules({ receipt, signature }: CheckedReceipt): string[] {
  if (receipt === null) return ['the receipt is not a domain-observation/v1 note'];
  if (signature === 'no_such_key') return [`seq ${receipt.seq}: no key with kid ${receipt.kid} is known`];
  return signature === 'fails' ? [`seq ${receipt.seq}: the signature does not hold`] : [];
}

/** What does not hold between a receipt's time and its key's. */
export function lifeRules({ receipt, key }: CheckedReceipt): string[] {
  if (receipt === null || key === null) return [];
  return signingPeriodFaults(`seq ${receipt.seq}: observed`, receipt.observed_at, key);
}

/**
 * What does not hold in fields that were read from disclosures, in leaf order,
 * null where a text is none. `all` says that the list is to be the whole record.
 */
export function disclosureRules(disclosed: (Disclosed | null)[], receipt: ObservationReceipt, all: boolean): string[] {
  const where = `seq ${receipt.seq}`;
  const faults: string[] = [];
  const fields = new Map<string, unknown>();
  let before: string | null = null;
  for (const [index, field] of disclosed.entries()) {
    if (field === null) {
      faults.push(`${where}: disclosure ${index} is not JCS([salt, name, value]) with a salt of 128 bits`);
      continue;
    }
    if (before !== null && field.name <= before) faults.push(`${where}: ${field.name} stands out of order`);
    before = field.name;
    fields.set(field.name, field.value);
  }
  if (all && disclosed.length !== receipt.record_fields) {
    faults.push(`${where}: there are ${disclosed.length} disclosures, the receipt says ${receipt.record_fields}`);
  }
  for (const name of ['domain', 'observed_at'] as const) {
    const value = fields.get(name);
    if (value === undefined ? all : value !== receipt[name]) {
      faults.push(`${where}: the record's ${name} is not the receipt's`);
    }
  }
  return faults;
}

/**
 * What does not hold between a receipt and the one before it of the same domain:
 * one domain, `seq` rising, time never going back, `prev` the hash of the text
 * before. Without one before, the receipt is to be the domain's first.
 */
export function linkRules(before: CheckedReceipt | null, { receipt }: CheckedReceipt): string[] {
  if (receipt === null) return [];
  const where = `seq ${receipt.seq}`;
  const last = before?.receipt ?? null;
  if (before === null || last === null) {
    return receipt.prev === null ? [] : [`${where}: prev is ${receipt.prev}, but nothing is before it`];
  }
  const faults: string[] = [];
  if (receipt.prev !== before.hash) {
    faults.push(`${where}: prev is ${receipt.prev ?? 'none'}, but the observation before it is ${before.hash}`);
  }
  if (receipt.domain !== last.domain) faults.push(`${where}: it is of ${receipt.domain}, not of ${last.domain}`);
  if (receipt.seq <= last.seq) faults.push(`${where}: it does not come after seq ${last.seq}`);
  if (receipt.observed_at < last.observed_at) {
    faults.push(`${where}: it was observed before the observation that it follows`);
  }
  return faults;
}

/**
 * What does not hold in the receipts of one domain, oldest first, one after the
 * other. `whole` says that the first is to be the domain's first.
 */
export function receiptChainRules(seen: CheckedReceipt[], whole: boolean): string[] {
  if (seen.length === 0) return ['there is no observation'];
  return seen.flatMap((one, index) => [
    ...receiptRules(one),
    ...(index > 0 || whole ? linkRules(seen[index - 1] ?? null, one) : []),
  ]);
}
