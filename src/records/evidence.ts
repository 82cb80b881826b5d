import * as z from 'zod';
import type { DoorKey, Jwk } from '../ledger/keyring.ts';
import { jwks } from '../ledger/keyring.ts';
import type { Verify } from '../ledger/note.ts';
import { keysFromVkeys } from '../ledger/proof.ts';
import { answerFaults } from './answer-faults.ts';
import type { Observation } from './observation.ts';
import { receiptChainFaults } from './observation-faults.ts';
import type { FullRecord } from './preview.ts';
import { fullRecordOf } from './preview.ts';

/** Everything that was observed of one domain, to be kept and checked offline. */
export interface Evidence {
  evidence: 'domain-evidence/v1';
  domain: string;
  /** Whose signatures the records bear, as the key document lists them. */
  keys: Jwk[];
  /** The whole chain, oldest first. */
  records: FullRecord[];
}

/** Puts a bundle together. `observations` are the domain's whole chain, oldest first. */
export function evidenceOf(domain: string, observations: Iterable<Observation>, keys: DoorKey[]): Evidence {
  return JSON.parse([...evidenceText(domain, observations, keys)].join('')) as Evidence;
}

/** The same as JSON, a record at a time: a long chain need not be in memory. The keys come last, when it is known which. */
export function* evidenceText(
  domain: string,
  observations: Iterable<Observation>,
  keys: DoorKey[],
): Generator<string, void> {
  const used = new Set<DoorKey>();
  let comma = '';
  yield `{"evidence":"domain-evidence/v1","domain":${JSON.stringify(domain)},"records":[`;
  for (const observation of observations) {
    const record = fullRecordOf(observation);
    for (const key of keys) if (record.receipt.includes(`\nkid ${key.kid}\n`)) used.add(key);
    yield comma + JSON.stringify(record);
    comma = ',';
  }
  yield `],"keys":${JSON.stringify(jwks(keys.filter((key) => used.has(key))).keys)}}`;
}

const Bundle = z.looseObject({
  evidence: z.literal('domain-evidence/v1'),
  domain: z.string(),
  keys: z.array(z.looseObject({ vkey: z.string() })),
  records: z.array(z.looseObject({ preview: z.literal(false), domain: z.string(), receipt: z.string() })),
});

/**
 * Checks a bundle from itself alone, or against keys that the caller trusts: from
 * itself alone it shows that records and chain belong together, not whose keys
 * they bear. What is no bundle is itself a fault, never an exception.
 */
export function evidenceFaults(json: unknown, verify: Verify, trusted?: DoorKey[]): string[] {
  const parsed = Bundle.safeParse(json);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return [`this is no evidence bundle: ${issue?.path.join('.') || 'it'}: ${issue?.message}`];
  }
  const { domain, records, keys: listed } = parsed.data;
  const keys = trusted ?? keysFromVkeys(listed.map(({ vkey }) => vkey));
  const receipts = records.map(({ receipt }) => receipt);
  const faults = [
    ...receiptChainFaults(receipts, keys, verify, true),
    ...records.flatMap((record) => answerFaults(record, keys, verify)),
  ];
  if (records.some((record) => record.domain !== domain)) faults.push(`a record is not of ${domain}`);
  // A signature that fails is found twice: in the chain and in the record.
  return [...new Set(faults)];
}
