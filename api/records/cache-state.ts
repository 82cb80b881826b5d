import type { Store } from '../../src/store/store.ts';

type Records = Store['records'];

/** Changes whenever a visible change comes or goes: with a delta, and with an opt-out, which hides some. */
export function changesState(records: Records): string {
  return `${records.newestDelta()}-${records.counts().opted_out}`;
}

/** Also changes with every observation, and when a hostname is added or paused. */
export function observationsState(records: Records): string {
  const { watched, paused } = records.counts();
  return `${changesState(records)}-${records.nextSeq()}-${watched}-${paused}`;
}

/** The number of visible changes, counted once per state. */
export function changeTotal(records: Records): () => number {
  let last: { state: string; total: number } | undefined;
  return () => {
    const state = changesState(records);
    if (last?.state !== state) last = { state, total: records.deltaCount({}) };
    return last.total;
  };
}

/** How many answers `untilCommit` remembers. */
const REMEMBERED = 10_000;

/** Remembers what `read` says of a name, unless it is null, until anything is committed. */
export function untilCommit<T>(
  commitMark: () => number | null,
  read: (name: string) => T | null,
): (name: string) => T | null {
  const known = new Map<string, T>();
  // At once, which opens the file that is compared: another one may lie at its path later, as after a restore.
  let knownAt = commitMark();
  return (name) => {
    // Before the read: after a commit in between, the next call reads again.
    const mark = commitMark();
    if (mark === null) return read(name);
    if (mark !== knownAt || known.size === REMEMBERED) known.clear();
    knownAt = mark;
    const found = known.get(name) ?? read(name);
    if (found !== null) known.set(name, found);
    return found;
  };
}
