import type { LogProof } from '../ledger/log/log-proof.ts';
import { parseNote } from '../ledger/note.ts';
import { isoOrNull, isoTime } from '../time.ts';
import { changeLine } from './change-line.ts';
import type { Delta } from './delta.ts';
import { parseObservation } from './receipt.ts';

/** Rows on the wire, with times in ISO 8601 (protocol 5.8, 5.9). */

/** A delta in `/v1/changes`, `/v1/stream` and `/changes/…`. */
export function deltaRow({ seq, at, domain, signal, kind, before, after, observation_seq }: Delta) {
  return { seq, at: time(at), domain, signal, kind, before, after, observation_seq };
}

/** A delta on the tape: one line of text instead of its values. */
export function tapeRow(delta: Delta) {
  const { seq, at, domain, signal, kind } = delta;
  return { seq, at: time(at), domain, signal, kind, line: changeLine(delta) };
}

interface ReceiptRow {
  seq: number;
  /** In ms. */
  observed_at: number;
  receipt: string;
}

/** A receipt in a domain's provenance, with the proof that it is in the log. */
export function provenanceRow({ seq, observed_at, receipt }: ReceiptRow, log: LogProof | null) {
  const record_root = parseObservation(parseNote(receipt)?.text ?? '')?.record_root ?? '';
  return { seq, observed_at: time(observed_at), record_root, receipt, log };
}

/** A value in a domain's history. */
export function historyRow<T extends { first_seen: number; last_seen: number }>(sighting: T) {
  return { ...sighting, first_seen: time(sighting.first_seen), last_seen: time(sighting.last_seen) };
}

function time(ms: number): string {
  return isoTime(ms);
}

/** A watched hostname, with times in ms. */
export interface CatalogHost {
  hostname: string;
  unicode: string;
  registrable_domain: string | null;
  state: string;
  added_at: number;
  looked_at: number | null;
  seq: number | null;
}

/** A row of the catalog. */
export function catalogRow({ hostname, unicode, registrable_domain, state, added_at, looked_at, seq }: CatalogHost) {
  return {
    domain: hostname,
    unicode,
    registrable_domain,
    // Hostnames that opted out are in no list.
    state: state === 'paused' ? ('paused' as const) : ('watched' as const),
    added_at: isoTime(added_at),
    observed_at: isoOrNull(looked_at),
    seq,
  };
}
