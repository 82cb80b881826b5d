import { clockNotesFor } from '../clock-note.ts';
import { type Jwk, jwks, type VerifyingKey } from '../keyring.ts';
import type { LogProof } from '../log/log-proof.ts';
import type { Observation } from './observation.ts';
import { type FullRecord, fullRecordOf } from './preview.ts';

/** A record, with the proof that its receipt is in the log. */
interface EvidenceRecord extends FullRecord {
  log?: LogProof | null;
}

/** All observations of one domain (protocol 5.8), for archiving and offline verification. */
export interface Evidence {
  evidence: 'domain-evidence/v1';
  domain: string;
  /** The keys that signed the records, as the key document lists them. */
  keys: Jwk[];
  records: EvidenceRecord[];
  /** The corrections of the clock that cover one of the records: signed notes. Absent without any. */
  clock?: string[];
}

type ProveReceipt = (receipt: string) => LogProof | null;

/**
 * The bundle as JSON text, one record at a time, so that a long chain need not fit into memory. The keys come last,
 * because only then are the used ones known.
 */
export function* evidenceText(
  domain: string,
  observations: Iterable<Observation>,
  keys: VerifyingKey[],
  logProof: ProveReceipt,
  clock: readonly string[] = [],
): Generator<string, void> {
  const used = new Set<VerifyingKey>();
  const seqs: number[] = [];
  let comma = '';
  yield `{"evidence":"domain-evidence/v1","domain":${JSON.stringify(domain)},"records":[`;
  for (const observation of observations) {
    const record: EvidenceRecord = { ...fullRecordOf(observation), log: logProof(observation.receipt) };
    for (const key of keys) if (record.receipt.includes(`\nkid ${key.kid}\n`)) used.add(key);
    seqs.push(observation.seq);
    yield comma + JSON.stringify(record);
    comma = ',';
  }
  const corrections = clockNotesFor(clock, seqs);
  for (const note of corrections) for (const key of keys) if (note.includes(`\nkid ${key.kid}\n`)) used.add(key);
  const more = corrections.length === 0 ? '' : `,"clock":${JSON.stringify(corrections)}`;
  yield `],"keys":${JSON.stringify(jwks(keys.filter((key) => used.has(key))).keys)}${more}}`;
}
