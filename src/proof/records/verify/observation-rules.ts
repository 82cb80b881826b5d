import type { CheckedReceipt as Checked } from '../../chain.ts';
import { signingPeriodFaults } from '../../key-text.ts';
import type { Disclosed } from '../disclosure.ts';
import type { ObservationReceipt } from '../receipt.ts';

export type CheckedReceipt = Checked<ObservationReceipt>;

// These rules do no hashing: the auditor, the tests and a reader's browser share them.

/** Checks a receipt by itself: its form, its signature, and that its time is within the validity period of its key. */
export function receiptRules(seen: CheckedReceipt): string[] {
  return [...signatureRules(seen), ...lifeRules(seen)];
}

export function signatureRules({ receipt, signature }: CheckedReceipt): string[] {
  if (receipt === null) return ['the receipt is not a domain-observation/v1 note'];
  if (signature === 'no_such_key') return [`seq ${receipt.seq}: no key with kid ${receipt.kid} is known`];
  return signature === 'fails' ? [`seq ${receipt.seq}: the signature does not hold`] : [];
}

export function lifeRules({ receipt, key, time }: CheckedReceipt): string[] {
  if (receipt === null || key === null) return [];
  return signingPeriodFaults(`seq ${receipt.seq}: observed`, time, key);
}

/** The fields are in leaf order, with null for a malformed one. `all` requires the list to be the whole record. */
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
    if (before !== null && field.name <= before) faults.push(`${where}: ${field.name} is out of order`);
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
 * Checks a receipt against the previous one of its domain: the same domain, a higher `seq`, a time that is not earlier,
 * and `prev` as the hash of its text. Without a previous one, it must be the domain's first.
 */
export function linkRules(before: CheckedReceipt | null, { receipt, time }: CheckedReceipt): string[] {
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
  if (time < before.time) {
    faults.push(`${where}: it was observed before the observation that it follows`);
  }
  return faults;
}
