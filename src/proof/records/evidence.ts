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
 * because only then is it known which ones were used.
 */
export class EvidenceText {
  readonly begin: string;
  readonly #used = new Set<VerifyingKey>();
  readonly #seqs: number[] = [];
  readonly #keys: VerifyingKey[];
  readonly #logProof: ProveReceipt;
  readonly #clock: readonly string[];

  constructor(domain: string, keys: VerifyingKey[], logProof: ProveReceipt, clock: readonly string[] = []) {
    this.begin = `{"evidence":"domain-evidence/v1","domain":${JSON.stringify(domain)},"records":[`;
    this.#keys = keys;
    this.#logProof = logProof;
    this.#clock = clock;
  }

  /** The next record. */
  recordOf(observation: Observation): string {
    const record: EvidenceRecord = { ...fullRecordOf(observation), log: this.#logProof(observation.receipt) };
    this.#use(record.receipt);
    const comma = this.#seqs.length === 0 ? '' : ',';
    this.#seqs.push(observation.seq);
    return comma + JSON.stringify(record);
  }

  end(): string {
    const corrections = clockNotesFor(this.#clock, this.#seqs);
    for (const note of corrections) this.#use(note);
    const more = corrections.length === 0 ? '' : `,"clock":${JSON.stringify(corrections)}`;
    return `],"keys":${JSON.stringify(jwks(this.#keys.filter((key) => this.#used.has(key))).keys)}${more}}`;
  }

  #use(note: string): void {
    for (const key of this.#keys) if (note.includes(`\nkid ${key.kid}\n`)) this.#used.add(key);
  }
}
