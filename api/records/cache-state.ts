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
