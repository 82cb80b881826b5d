import type { LogProof } from '../proof/log/log-proof.ts';
import { parseNote } from '../proof/note.ts';
import type { Observation } from '../proof/records/observation.ts';
import { parseObservation } from '../proof/records/receipt.ts';
import { signalsOf } from '../proof/records/record.ts';
import { isKnown } from '../proof/records/signal.ts';
import { isoOrNull, isoTime } from '../proof/time.ts';
import type { Change, Delta } from './delta.ts';
import { issuerName } from './facets.ts';
import { certificateParts, type TrackedName } from './tracked-values.ts';

/** Rows as responses show them, with times in ISO 8601 (protocol 5.8, 5.9). */

/** A delta in `/v1/changes`, `/v1/stream` and `/changes/…`. */
export function deltaRow({ seq, at, domain, signal, kind, before, after, observation_seq, ...more }: Delta) {
  const { rotation, owner_note: note } = more;
  return {
    ...{ seq, at: isoTime(at), domain, signal, kind, before, after, observation_seq },
    ...(rotation === null ? {} : { rotation }),
    ...(note === undefined ? {} : { owner_note: { ...note, written_at: isoTime(note.written_at) } }),
  };
}

export function tapeRow(delta: Delta) {
  const { seq, at, domain, signal, kind } = delta;
  return { seq, at: isoTime(at), domain, signal, kind, line: changeLine(delta) };
}

interface ReceiptRow {
  seq: number;
  /** In ms. */
  observed_at: number;
  receipt: string;
}

/** A receipt in a domain's provenance, with the proof that the log contains it. */
export function provenanceRow({ seq, observed_at, receipt }: ReceiptRow, log: LogProof | null) {
  const record_root = parseObservation(parseNote(receipt)?.text ?? '')?.record_root ?? '';
  return { seq, observed_at: isoTime(observed_at), record_root, receipt, log };
}

export function historyRow<T extends { first_seen: number; last_seen: number }>(sighting: T) {
  return { ...sighting, first_seen: isoTime(sighting.first_seen), last_seen: isoTime(sighting.last_seen) };
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

export function catalogRow({ hostname, unicode, registrable_domain, state, added_at, looked_at, seq }: CatalogHost) {
  return {
    domain: hostname,
    unicode,
    registrable_domain,
    // Lists never contain hostnames that opted out.
    state: state === 'paused' ? ('paused' as const) : ('watched' as const),
    added_at: isoTime(added_at),
    observed_at: isoOrNull(looked_at),
    seq,
  };
}

/** An observation as a point of the time series, with one type or all of them. */
export function timeSeriesPoint({ seq, record }: Observation, type?: TrackedName) {
  const { certificate_status: status, observed_at } = record;
  const certificate = status === 'ok' ? 1 : status === 'none' ? 0 : null;
  const points = {
    ...Object.fromEntries(
      Object.entries(signalsOf(record)).map(([name, { status, values, ttl, rtt_ms }]) => [
        name,
        { status, count: isKnown({ status }) ? values.length : null, ttl, rtt_ms },
      ]),
    ),
    CERTIFICATE: { status, count: certificate, ttl: null, rtt_ms: null },
  };
  const signals = Object.fromEntries(Object.entries(points).filter(([name]) => type === undefined || name === type));
  return { seq, observed_at, signals };
}

const LONGEST_VALUE = 60;
const MOST_VALUES = 3;

/** A change in one line of plain text: `example.com A changed: 192.0.2.1 → 192.0.2.2`. */
export function changeLine({ domain, signal, kind, before, after }: Change & { domain: string }): string {
  const name = signal.replace(/^WWW_(.*)$/, 'www $1');
  if (kind === 'added') return `${domain} ${name} added: ${listed(after)}`;
  if (kind === 'removed') return `${domain} ${name} removed: ${listed(before)}`;
  const gained = after.filter((value) => !before.includes(value));
  const lost = before.filter((value) => !after.includes(value));
  if (gained.length === 0) return `${domain} ${name} changed: without ${listed(lost)}`;
  if (lost.length === 0) return `${domain} ${name} changed: with ${listed(gained)}`;
  return `${domain} ${name} changed: ${listed(lost)} → ${listed(gained)}`;
}

function listed(values: string[]): string {
  const named = values.slice(0, MOST_VALUES).map(valueInLine).join(', ');
  return values.length > MOST_VALUES ? `${named} and ${values.length - MOST_VALUES} more` : named;
}

/** A value as one line of text: long ones are cut, and a certificate is shown by its issuer and end. */
export function valueInLine(value: string): string {
  const certificate = certificateParts(value);
  if (certificate !== null) return `${issuerName(certificate.issuer)} until ${certificate.not_after.slice(0, 10)}`;
  // Slicing the string could split a surrogate pair.
  const characters = [...value];
  return characters.length > LONGEST_VALUE ? `${characters.slice(0, LONGEST_VALUE - 1).join('')}…` : value;
}
