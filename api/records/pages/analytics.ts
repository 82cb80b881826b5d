import type { AnalyticsList, AnalyticsView, ColumnChart } from '../../../src/records/reading-views.ts';
import { dayAfter, dayOf, isoOrNull } from '../../../src/time.ts';
import { observationsState } from '../public-state.ts';
import type { RecordsDoors } from '../route.ts';
import { FACET_LISTS, nameRow } from './facet-lists.ts';
import { frameOf } from './frame.ts';
import type { ListPart } from './list.ts';
import { endOf, keptLists, OPEN_ROWS, partWanted, sendListJson } from './list.ts';
import { openPage, sendKeptPage, wantsPage } from './page.ts';

/** Days of changes that are drawn. */
const DAYS = 90;
/** Weeks ahead for which ends of certificates are drawn. */
const WEEKS = 26;
/** Names of each list for who is signed in; the rest is a click away. */
const NAMES = 15;

const KINDS = ['added', 'changed', 'removed'] as const;

type Records = RecordsDoors['app']['store']['records'];

/** All that is watched in numbers and charts, counted per newest observation. */
export function analyticsPage(doors: RecordsDoors): void {
  const { store, now } = doors.app;
  const { records } = store;
  const kept = keptLists();
  openPage(doors, '/analytics', (c) => {
    const { isWhole } = partWanted(c);
    const today = dayOf(now());
    const description =
      'Record types, mail and DNS hosts, certificate issuers and their ends, and changes by day of every watched hostname.';
    const frame = frameOf(doors.app, c, { title: 'Analytics · Domain Records', description, path: '/analytics' });
    const list = (facets: (typeof FACET_LISTS)[number]): AnalyticsList => {
      const { watched, paused } = records.counts();
      const found = records.topFacets(facets.kind, isWhole ? NAMES : OPEN_ROWS);
      const part: ListPart<unknown> = { rows: found, total: records.facetNames(facets.kind), next: null };
      return {
        id: facets.path.slice(1),
        heading: facets.heading,
        about: facets.lede,
        noun: facets.noun,
        nouns: facets.nouns,
        rows: found.map((row) => nameRow(facets, row, watched + paused)),
        end: endOf(doors, part, isWhole, null),
        all_url: facets.path,
      };
    };
    if (!wantsPage(c)) {
      return sendListJson(doors, c, { kept, name: '/analytics' }, () => {
        const rows = FACET_LISTS.map(list).map(({ heading, all_url, rows: top, end }) => ({
          list: heading,
          url: `${doors.app.settings.dataOrigin}${all_url}`,
          total: end.total,
          top: top.map(({ name, kind, count }) => ({ name, ...(kind === null ? {} : { kind }), count })),
        }));
        return { rows, total: rows.length, next: null };
      });
    }
    const view = (): AnalyticsView => {
      const changes = changesByDay(records, today);
      const last = records.lastProbeAt();
      return {
        frame,
        totals: {
          watched: records.counts().watched,
          observations: records.nextSeq() - 1,
          changes: records.deltaCount({}),
          changes_today: changes.columns.at(-1)?.counts.reduce((sum, count) => sum + count, 0) ?? 0,
        },
        last_look_at: isoOrNull(last),
        changes,
        expiry: expiryByWeek(records, today),
        lists: FACET_LISTS.map(list),
      };
    };
    // The charts end with today, so a new day is another state.
    const state = `${observationsState(records)}-${today}`;
    return sendKeptPage(doors, c, '/records/analytics', { frame, view }, { kept, name: '/analytics', state });
  });
}

/** Changes of the last days by kind, up to today. */
function changesByDay(records: Records, today: string): ColumnChart {
  const from = dayAfter(today, 1 - DAYS);
  const counts = new Map<string, number[]>();
  for (const { day, kind, count } of records.changesByDay(from, dayAfter(today))) {
    const parts = counts.get(day) ?? KINDS.map(() => 0);
    const at = KINDS.indexOf(kind);
    parts[at] = (parts[at] ?? 0) + count;
    counts.set(day, parts);
  }
  const columns = Array.from({ length: DAYS }, (_, index) => dayAfter(from, index)).map((day) => ({
    label: day,
    url: counts.has(day) ? `/changes/${day}` : null,
    counts: counts.get(day) ?? KINDS.map(() => 0),
  }));
  return chartOf([...KINDS], columns);
}

/** Certificates that hosts show by the week in which they end, those that have ended first and the rest last. */
function expiryByWeek(records: Records, today: string): ColumnChart {
  const ended = sum(records.facetRange('expiry', '', today));
  const weeks = Array.from({ length: WEEKS }, (_, index) => dayAfter(today, 7 * index));
  const within = new Map<string, number>(weeks.map((day) => [day, 0]));
  for (const { name, count } of records.facetRange('expiry', today, dayAfter(today, 7 * WEEKS))) {
    const week = weeks.findLast((day) => day <= name) ?? today;
    within.set(week, (within.get(week) ?? 0) + count);
  }
  const later = sum(records.facetRange('expiry', dayAfter(today, 7 * WEEKS), '~'));
  const column = (label: string, count: number) => ({ label, url: null, counts: [count] });
  return chartOf(
    ['certificates'],
    [
      column('already ended', ended),
      ...[...within].map(([day, count]) => column(`${day} to ${dayAfter(day, 6)}`, count)),
      column('later', later),
    ],
  );
}

function chartOf(parts: string[], columns: ColumnChart['columns']): ColumnChart {
  const totals = columns.map(({ counts }) => counts.reduce((all, count) => all + count, 0));
  return { parts, columns, most: Math.max(...totals, 0), total: totals.reduce((all, count) => all + count, 0) };
}

function sum(counts: { count: number }[]): number {
  return counts.reduce((all, { count }) => all + count, 0);
}
