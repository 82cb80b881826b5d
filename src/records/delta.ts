import type { TrackedName, TrackedValues } from './tracked-values.ts';

/** What stands of one signal: the last known values, and those among them that the last known look did not show. */
export interface Baseline {
  /** Sorted, each once. */
  values: string[];
  /** Missing once: gone when the next known look does not show them either. Sorted. */
  missing: string[];
}

/** What stands of a domain. A signal that was never known is not in it. */
export type DomainBaseline = Partial<Record<TrackedName, Baseline>>;

/** One change of one signal's value set, before it has a number. */
export interface Change {
  signal: TrackedName;
  kind: 'added' | 'removed' | 'changed';
  /** Sorted; empty when nothing stood. */
  before: string[];
  /** Sorted; empty when nothing stands any more. */
  after: string[];
}

/** A change as the wire shows it. */
export interface Delta extends Change {
  /** Of the whole service, from 1, without gaps. */
  seq: number;
  /** When it was entered, in ms; it never goes back. */
  at: number;
  domain: string;
  /** The observation that showed, or confirmed, it. */
  observation_seq: number;
}

/**
 * Compares what stands with what a look knows. Unknown changes nothing. The first
 * time that a signal is known is its baseline, not a change. A look that shows a
 * value that did not stand is believed at once, with all that it shows. A look that
 * only lacks values is believed when the next known look lacks them too: an empty
 * or short answer is also what a broken server gives. `updates` holds what stands now
 * of the signals for which that is not what stood before.
 */
export function compareWithBaseline(
  before: DomainBaseline,
  now: TrackedValues,
): { updates: DomainBaseline; changes: Change[] } {
  const updates: DomainBaseline = {};
  const changes: Change[] = [];
  for (const signal of Object.keys(now).sort() as TrackedName[]) {
    const values = now[signal];
    const old = before[signal];
    if (values === null || values === undefined) continue;
    const next = old === undefined ? { values, missing: [] } : step(old, values);
    if (old !== undefined && sameValues(old.values, next.values) && sameValues(old.missing, next.missing)) continue;
    updates[signal] = next;
    if (old !== undefined && !sameValues(old.values, next.values)) changes.push(changeOf(signal, old, next));
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

function changeOf(signal: TrackedName, { values: before }: Baseline, { values: after }: Baseline): Change {
  const kind = before.length === 0 ? 'added' : after.length === 0 ? 'removed' : 'changed';
  return { signal, kind, before, after };
}

function sameValues(a: string[], b: string[]): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index]);
}

/** Whether something is missing that the next look is to confirm. */
export function isUnconfirmed(baseline: DomainBaseline): boolean {
  return Object.values(baseline).some(({ missing }) => missing.length > 0);
}
