import { dayAfter, dayOf, isoOrNull } from '../../../src/proof/time.ts';
import type { AnalyticsList, ColumnChart, RecordsPages } from '../../../src/records/views.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { ResponseCache } from '../../responses/response-cache.ts';
import type { RecordsContext } from '../route.ts';
import { observationsState } from '../send.ts';
import { FACET_LISTS, type FacetList, nameRow } from './facets.ts';
import { type ListPart, listEnd, PUBLIC_ROWS, requestedPart, sendListJson } from './list.ts';
import { type PageSender, wantsPage } from './page.ts';

/** Days in the chart of changes. */
const DAYS = 90;
/** Weeks ahead in the chart of expiring certificates. */
const WEEKS = 26;
const NAMES = 15;

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
      const { watched, paused } = records.counts();
      const found = records.topFacets(facets.kind, isWhole ? NAMES : PUBLIC_ROWS);
      const part: ListPart<unknown> = { rows: found, total: records.facetNames(facets.kind), next: null };
      return {
        id: facets.path.slice(1),
        heading: facets.heading,
        about: facets.lede,
        noun: facets.noun,
        nouns: facets.nouns,
        rows: found.map((row) => nameRow(facets, row, watched + paused)),
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
      const changes = changesByDay(records, today);
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
        lists: FACET_LISTS.map(list),
      };
    };
    // The charts end with today, so the page changes at midnight.
    const state = `${observationsState(records)}-${today}`;
    return pages.sendCached(c, '/records/analytics', { frame, view }, { cache, name: '/analytics', state });
  };
};

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
