import { DAY, dayOf } from '../../proof/time.ts';
import type { AppContext } from '../../server/context.ts';
import { closedBefore } from './archiver.ts';

/** How many observations are read at a time. */
const CHUNK = 5_000;

/**
 * Marks the days that need a dump, and the dumps of days that have received other observations since. Without
 * DUMPS_URL, does nothing. Call it before observations leave the database: it only reads those still in it.
 */
export function markDumps({ store, settings, clock }: AppContext): { through: number; clock: number } {
  const { dumps } = store.records;
  const corrections = store.desk.corrections('records', '');
  const seen = { through: store.records.nextSeq() - 1, clock: corrections.length };
  if (settings.dumps === null) return seen;
  const { days } = settings.dumps;
  const closed = closedBefore(clock.now());
  store.database.transact(() => {
    const known = dumps.days();
    const kept = new Map(known.filter(({ removed_at }) => removed_at === null).map((state) => [state.day, state]));
    const late = new Set<string>();
    for (let after = Math.max(0, ...known.map(({ through }) => through)); after < seen.through; ) {
      const rows = dumps.observedSince(after, CHUNK);
      for (const { seq, observed_at } of rows) {
        const state = kept.get(dayOf(observed_at));
        if (state !== undefined && state.generation > 0 && seq > state.through) late.add(state.day);
      }
      after = rows.at(-1)?.seq ?? seen.through;
    }
    for (const { day, start, generation, through, clock: before } of kept.values()) {
      if (generation > 0 && dumps.isArchivedLate(day, through)) late.add(day);
      const from = Math.min(...corrections.slice(before).map(({ time }) => time));
      if (generation > 0 && start + DAY > from) dumps.mark(day, 'clock');
      else if (before < seen.clock) dumps.passClock(day, seen.clock);
    }
    for (const day of late) dumps.mark(day, 'late');
    // Days without observations get a dump too, but not after the last observation: the clock may be wrong.
    const last = Math.min(closed - 1, dumps.newestAt() ?? -1);
    const first = Math.max(closed - days * DAY, dumps.firstAt() ?? Number.MAX_SAFE_INTEGER);
    for (let start = Math.floor(first / DAY) * DAY; start <= last; start += DAY)
      dumps.begin(dayOf(start), start, seen.clock);
  });
  return seen;
}
