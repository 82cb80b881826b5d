import type { AppContext } from '../../src/app/context.ts';

type Records = AppContext['store']['records'];

/** Changes whenever a shown change comes or goes: with a delta, and with an opt-out, which hides them. */
export function changesState(records: Records): string {
  return `${records.newestDelta()}-${records.counts().opted_out}`;
}

/** Changes with every look too, and when a hostname comes under watch or is paused. */
export function observationsState(records: Records): string {
  const { watched, paused } = records.counts();
  return `${changesState(records)}-${records.nextSeq()}-${watched}-${paused}`;
}

/** How many shown changes there are, counted once for each state. */
export function changeTotal(records: Records): () => number {
  let last: { state: string; total: number } | undefined;
  return () => {
    const state = changesState(records);
    if (last?.state !== state) last = { state, total: records.deltaCount({}) };
    return last.total;
  };
}
