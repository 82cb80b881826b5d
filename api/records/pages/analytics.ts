import { present } from '../../../src/proof/narrow.ts';
import { dayAfter, dayOf, isoOrNull } from '../../../src/proof/time.ts';
import type { AnalyticsList, ColumnChart, RecordsPages } from '../../../src/records/views.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { ResponseCache } from '../../responses/response-cache.ts';
import type { RecordsContext } from '../route.ts';
import { observationsState } from '../send.ts';
import { signalLabel } from './change-view.ts';
import { FACET_LISTS, type FacetList, trendRows } from './facets.ts';
import { type ListPart, listEnd, PUBLIC_ROWS, requestedPart, sendListJson } from './list.ts';
import { type PageSender, wantsPage } from './page.ts';

/** Days in the chart of changes. */
const DAYS = 90;
/** Weeks ahead in the chart of expiring certificates. */
const WEEKS = 26;
const NAMES = 15;
/** Columns between the first mark of an axis and the next. */
const MARK_APART = 12;

const KINDS = ['added', 'changed', 'removed'] as const;

type Records = AppContext['store']['records'];

export const analyticsPage = (app: AppContext, pages: PageSender) => {
  const { records } = app.store;
  const cache = new ResponseCache();
  return (c: RecordsContext) => {
    const { isWhole } = requestedPart(c);
    const today = dayOf(app.clock.now());
    const description =
      'Record types, mail and DNS hosts, certificate issuers and expiry, and changes by day of every watched hostname.';
    const frame = pages.frame(c, { title: 'Analytics · Domain Records', description, path: '/analytics' });
    const list = (facets: FacetList): AnalyticsList => {
      const found = records.topFacets(facets.kind, isWhole ? NAMES : PUBLIC_ROWS);
      const part: ListPart<unknown> = { rows: found, total: records.facetNames(facets.kind), next: null };
      return {
        id: facets.path.slice(1),
        heading: facets.heading,
        about: facets.lede,
        noun: facets.noun,
        nouns: facets.nouns,
        rows: trendRows(app, facets, found),
        end: listEnd(app.settings, part, isWhole, null),
        all_url: facets.path,
      };
    };
    if (!wantsPage(c)) {
      return sendListJson(app, c, { cache, name: '/analytics' }, () => {
        const rows = FACET_LISTS.map(list).map(({ heading, all_url, rows: top, end }) => ({
          list: heading,
          url: `${app.settings.dataOrigin}${all_url}`,
          total: end.total,
          top: top.map(({ name, kind, count }) => ({ name, ...(kind === null ? {} : { kind }), count })),
        }));
        return { rows, total: rows.length, next: null };
      });
    }
    const view = (): RecordsPages['/records/analytics'] => {
      const counted = records.changesByDay(dayAfter(today, 1 - DAYS), dayAfter(today));
      const changes = changesByDay(counted, today);
      return {
        frame,
        totals: {
          watched: records.counts().watched,
          observations: records.nextSeq() - 1,
          changes: records.deltaCount({}),
          changes_today: changes.columns.at(-1)?.counts.reduce((sum, count) => sum + count, 0) ?? 0,
        },
        last_look_at: isoOrNull(records.lastProbeAt()),
        changes,
        expiry: expiryByWeek(records, today),
        signals: signalsByDay(counted, today),
        lists: FACET_LISTS.map(list),
      };
    };
    // The charts end with today, so the page changes at midnight.
    const state = `${observationsState(records)}-${today}`;
    return pages.sendCached(c, '/records/analytics', { frame, view }, { cache, name: '/analytics', state });
  };
};

type Counted = ReturnType<Records['changesByDay']>;

const daysTo = (today: string) => Array.from({ length: DAYS }, (_, index) => dayAfter(today, index + 1 - DAYS));

function changesByDay(counted: Counted, today: string): ColumnChart {
  const counts = new Map<string, number[]>();
  for (const { day, kind, count } of counted) {
    const parts = counts.get(day) ?? KINDS.map(() => 0);
    const at = KINDS.indexOf(kind);
    parts[at] = (parts[at] ?? 0) + count;
    counts.set(day, parts);
  }
  const columns = daysTo(today).map((day) => ({
    label: day,
    url: counts.has(day) ? `/changes/${day}` : null,
    counts: counts.get(day) ?? KINDS.map(() => 0),
  }));
  return chartOf([...KINDS], columns, monthsIn(columns.map(({ label }) => label)));
}

function signalsByDay(counted: Counted, today: string): RecordsPages['/records/analytics']['signals'] {
  const days = daysTo(today);
  const index = new Map(days.map((day, at) => [day, at]));
  const signals = new Map<string, RecordsPages['/records/analytics']['signals'][number]>();
  for (const { day, signal, kind, count } of counted) {
    const row = signals.get(signal) ?? {
      signal: signalLabel(signal),
      counts: days.map(() => 0),
      total: 0,
      kinds: { added: 0, removed: 0, changed: 0 },
    };
    const at = present(index.get(day));
    row.counts[at] = (row.counts[at] ?? 0) + count;
    row.total += count;
    row.kinds[kind] += count;
    signals.set(signal, row);
  }
  return [...signals.values()].sort((a, b) => b.total - a.total || (a.signal < b.signal ? -1 : 1));
}

const MONTH = new Intl.DateTimeFormat('en', { month: 'short', timeZone: 'UTC' });

/** Marks for the first of these days, and for the first of each month that is not too near to it. */
function monthsIn(days: string[]): ColumnChart['marks'] {
  return days.flatMap((day, at) => {
    if (at === 0) return [{ at, label: day }];
    return day.endsWith('-01') && at >= MARK_APART ? [{ at, label: MONTH.format(new Date(day)) }] : [];
  });
}

/** Certificates in use by the week in which they expire: first the expired ones, last the later ones. */
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
  const columns = [
    column('already ended', ended),
    ...[...within].map(([day, count]) => column(`${day} to ${dayAfter(day, 6)}`, count)),
    column('later', later),
  ];
  const months = weeks.flatMap((day, index) => {
    const begins = index === 0 || day.slice(0, 7) !== weeks[index - 1]?.slice(0, 7);
    return begins && index > 1 && index < WEEKS - 4 ? [{ at: index + 1, label: MONTH.format(new Date(day)) }] : [];
  });
  const marks = [{ at: 0, label: 'ended' }, ...months, { at: columns.length - 1, label: 'later' }];
  return chartOf(['certificates'], columns, marks);
}

function chartOf(parts: string[], columns: ColumnChart['columns'], marks: ColumnChart['marks']): ColumnChart {
  const totals = columns.map(({ counts }) => counts.reduce((all, count) => all + count, 0));
  return { parts, columns, marks, most: Math.max(...totals, 0), total: totals.reduce((all, count) => all + count, 0) };
}

function sum(counts: { count: number }[]): number {
  return counts.reduce((all, { count }) => all + count, 0);
}
