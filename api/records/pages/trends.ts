import { present } from '../../../src/proof/narrow.ts';
import { DAY, dayAfter, isoTime } from '../../../src/proof/time.ts';
import type { FacetKind } from '../../../src/records/facets.ts';
import type { HostTrend, NameTrend } from '../../../src/records/views.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { signalLabel } from './change-view.ts';

/** Days of a series of changes, and of one of counts. */
const CHANGE_DAYS = 30;
const COUNT_DAYS = 90;

type Records = AppContext['store']['records'];

/** How often hosts changed on each of the last 30 days, and when last. The map has each of these names. */
export function hostTrends(records: Records, hostnames: string[], today: string): Map<string, HostTrend> {
  const first = dayAfter(today, 1 - CHANGE_DAYS);
  const none = () => Array.from({ length: CHANGE_DAYS }, () => 0);
  const trends = new Map(hostnames.map((name): [string, HostTrend] => [name, { changes: none(), changed: null }]));
  for (const { domain, day, count } of records.hostDays([...trends.keys()], first)) {
    const at = daysBetween(first, day);
    // A day in the future means the clock was set back.
    if (at < CHANGE_DAYS) present(trends.get(domain)).changes[at] = count;
  }
  for (const { domain, at, signal, kind } of records.lastChanges([...trends.keys()])) {
    present(trends.get(domain)).changed = { at: isoTime(at), signal: signalLabel(signal), kind };
  }
  return trends;
}

/** A series of changes in words, for screen readers. */
export function changesLabel(changes: number[]): string {
  const total = changes.reduce((sum, count) => sum + count, 0);
  return `${total === 1 ? 'one change' : `${total.toLocaleString('en')} changes`} in ${changes.length} days`;
}

/** How many hosts had each of these names at the end of each of the last 90 days that were counted. */
export function nameTrends(records: Records, kind: FacetKind, names: string[], today: string): Map<string, NameTrend> {
  const from = dayAfter(today, 1 - COUNT_DAYS);
  const start = records.facetDaysStart() ?? today;
  const first = start > from ? start : from;
  const rows = new Map<string, { day: string; count: number }[]>(names.map((name) => [name, []]));
  for (const row of records.facetDays(kind, names, first)) rows.get(row.name)?.push(row);
  const length = Math.max(0, daysBetween(first, today)) + 1;
  return new Map(
    [...rows].map(([name, counted]) => {
      counted.sort((a, b) => (a.day < b.day ? -1 : 1));
      let next = 0;
      let count = 0;
      const counts = Array.from({ length }, (_, index) => {
        const day = dayAfter(first, index);
        for (let row = counted[next]; row !== undefined && row.day <= day; row = counted[++next]) count = row.count;
        return count;
      });
      const change = (counts.at(-1) ?? 0) - (counts[0] ?? 0);
      return [name, { counts, since: first, change, changed_on: counted.at(-1)?.day ?? null }];
    }),
  );
}

function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY);
}
