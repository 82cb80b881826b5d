import { entriesOf } from '../proof/narrow.ts';
import type { TrackedName, TrackedValues } from './tracked-values.ts';

/** The last known values of one signal, and which of them the last known probe did not show. */
export interface Baseline {
  values: string[];
  /** Values missing from one probe. They are removed if the next known probe does not show them either. Sorted. */
  missing: string[];
}

/** The last known values of a domain. A signal without any known values is absent. */
export type DomainBaseline = Partial<Record<TrackedName, Baseline>>;

export interface Change {
  signal: TrackedName;
  kind: 'added' | 'removed' | 'changed';
  before: string[];
  after: string[];
}

/** A proven owner's note on a change. `name` is the proven name; `written_at` in ms. */
export interface OwnerNote {
  name: string;
  text: string;
  written_at: number;
}

/** A recorded change. For a rotating signal: a change of one `answer`, or of the learned `set` (protocol 5.9). */
export interface SeenChange extends Change {
  rotation: 'answer' | 'set' | null;
}

export interface Delta extends SeenChange {
  /** The number in the whole service, from 1, without gaps. */
  seq: number;
  /** When it was recorded, in ms; never decreases. */
  at: number;
  domain: string;
  /** The observation that showed or confirmed the change. */
  observation_seq: number;
  owner_note?: OwnerNote;
}

/**
 * Compares the baseline with the values of a probe (protocol 5.9). Unknown values change nothing. The first known
 * values of a signal become its baseline, not a change. A probe with a new value is accepted at once, with all its
 * values. A probe that only lacks values is accepted when the next known probe lacks them too, because a broken server
 * also gives empty or short answers. `updates` holds the new baseline of each signal whose baseline differs.
 */
export function compareWithBaseline(
  before: DomainBaseline,
  now: TrackedValues,
): { updates: DomainBaseline; changes: Change[] } {
  const updates: DomainBaseline = {};
  const changes: Change[] = [];
  for (const [signal, values] of entriesOf(now).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const old = before[signal];
    if (values === null || values === undefined) continue;
    const next = old === undefined ? { values, missing: [] } : step(old, values);
    if (old !== undefined && sameValues(old.values, next.values) && sameValues(old.missing, next.missing)) continue;
    updates[signal] = next;
    if (old !== undefined && !sameValues(old.values, next.values))
      changes.push(changeOf(signal, old.values, next.values));
  }
  return { updates, changes };
}

function step(old: Baseline, values: string[]): Baseline {
  if (values.some((value) => !old.values.includes(value))) return { values, missing: [] };
  const lacking = old.values.filter((value) => !values.includes(value));
  const gone = lacking.filter((value) => old.missing.includes(value));
  return {
    values: old.values.filter((value) => !gone.includes(value)),
    missing: lacking.filter((value) => !gone.includes(value)),
  };
}

export function changeOf(signal: TrackedName, before: string[], after: string[]): Change {
  const kind = before.length === 0 ? 'added' : after.length === 0 ? 'removed' : 'changed';
  return { signal, kind, before, after };
}

export function sameValues(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index]);
}
