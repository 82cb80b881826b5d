import type { Jwk, VerifyingKey } from '../ledger/keyring.ts';
import { jwks } from '../ledger/keyring.ts';
import type { Observation } from './observation.ts';
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
export function evidenceOf(domain: string, observations: Iterable<Observation>, keys: VerifyingKey[]): Evidence {
  return JSON.parse([...evidenceText(domain, observations, keys)].join('')) as Evidence;
}

/** The same as JSON, a record at a time: a long chain need not be in memory. The keys come last, when it is known which. */
export function* evidenceText(
  domain: string,
  observations: Iterable<Observation>,
  keys: VerifyingKey[],
): Generator<string, void> {
  const used = new Set<VerifyingKey>();
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
