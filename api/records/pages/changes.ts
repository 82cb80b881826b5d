import { domainToUnicode } from 'node:url';
import { z } from '@hono/zod-openapi';
import { DAY, dayAfter, dayOf, daySpan, MINUTE } from '../../../src/proof/time.ts';
import type { Delta } from '../../../src/records/delta.ts';
import { hostnameOfField, pathOf, registrableDomain } from '../../../src/records/hostname.ts';
import { SIGNAL_MEANINGS } from '../../../src/records/signal-meanings.ts';
import type { ChangeFilter, ChangeGroup, RecordsPages, SignalCount } from '../../../src/records/views.ts';
import { deltaRow } from '../../../src/records/wire-rows.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Fault } from '../../../src/shared/fault.ts';
import { cursorOf, cursorParam, limitParam, nextLink, pageOf, readCursor } from '../../responses/paging.ts';
import { ResponseCache } from '../../responses/response-cache.ts';
import { validQuery } from '../list.ts';
import type { RecordsContext } from '../route.ts';
import { changesState, JSON_BESIDE_PAGE, sendPublic } from '../send.ts';
import { ChangeCursor, typeParam } from '../v1/params.ts';
import { changeView, dayBars, requireDay, signalLabel } from './change-view.ts';
import { type PageSender, wantsPage } from './page.ts';
import { changesLabel, hostTrends } from './trends.ts';

const DAYS_DRAWN = 30;
const LIMIT = 100;

const KINDS = ['added', 'changed', 'removed'] as const;

/** Treats an empty field of the form as absent. */
const filled = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((text) => (text === '' ? undefined : text), schema.optional());

const timeOfDay = filled(
  z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'must be a time of the day in UTC, from 00:00 to 23:59, as in 09:30'),
);

const QueryParams = z.object({
  limit: limitParam(LIMIT, 1_000),
  cursor: cursorParam,
  kind: filled(z.enum(KINDS, { error: `must be one of ${KINDS.join(', ')}` })),
  signal: filled(typeParam),
  name: filled(z.string().trim().max(253, 'must have at most 253 characters')),
  from: timeOfDay,
  to: timeOfDay,
});

interface Query extends Pick<z.output<typeof QueryParams>, 'kind' | 'signal' | 'limit' | 'cursor'> {
  day: string;
  /** In ms. */
  since: number;
  until: number;
  /** Only changes at this name and below it, as a path (`pathOf`). */
  below: string | undefined;
  filter: ChangeFilter;
  /** The cursor: only changes before this number. */
  before: number | undefined;
}

export function changesPages(app: AppContext, pages: PageSender) {
  const cache = new ResponseCache();
  const answer = async (c: RecordsContext, day: string, today: string) => {
    const query = queryOf(c, day);
    const { limit, cursor, filter } = query;
    const name = `${today} ${day} ${limit} ${query.before ?? ''} ${queryText(filter)}`;
    const state = changesState(app.store.records);
    if (!wantsPage(c)) {
      const json = await cache.load(`json ${name}`, state, () => jsonOf(app, query));
      return sendPublic(c, json, JSON_BESIDE_PAGE);
    }
    const title = `Changes on ${day} · Domain Records`;
    const description = `DNS records and certificates of watched hostnames that changed on ${day} (UTC).`;
    const isPart = cursor !== undefined || c.req.path === '/changes/today' || queryText(filter) !== '';
    const frame = pages.frame(c, { title, description, path: `/changes/${day}`, noindex: isPart });
    const view = () => viewOf(app, query, today, frame);
    const key = { cache, name: `${c.req.path} ${name}`, state };
    return pages.sendCached(c, '/records/changes', { frame, view }, key);
  };
  return {
    /** Where the form leads: to the address of its day, with the filters that were filled in. */
    chosen: (c: RecordsContext) => {
      const { day = '', ...filter } = c.req.query();
      const query = queryText(filter);
      return c.redirect(`/changes/${day === '' ? 'today' : encodeURIComponent(day)}${query && `?${query}`}`, 303);
    },
    today: (c: RecordsContext) => {
      const today = dayOf(app.clock.now());
      return answer(c, today, today);
    },
    ofDay: (c: RecordsContext) => {
      const today = dayOf(app.clock.now());
      return answer(c, requireDay(c.req.param('date') ?? '', today), today);
    },
  };
}

/** Throws `invalid_request`. */
function queryOf(c: RecordsContext, day: string): Query {
  const { limit, cursor, kind, signal, name, from, to } = validQuery(c, QueryParams);
  const [before] = readCursor(ChangeCursor, cursor);
  const start = daySpan(day).from;
  const [since, until] = [from === undefined ? 0 : msOf(from), to === undefined ? DAY : msOf(to)];
  if (since >= until) {
    throw new Fault('invalid_request', `to: ${to ?? ''} must be later than from, ${from ?? '00:00'}`, { field: 'to' });
  }
  return {
    ...{ day, limit, cursor, before, kind, signal, since: start + since, until: start + until },
    below: name === undefined ? undefined : pathOf(requireOwn(name)),
    filter: { kind: kind ?? '', signal: signal ?? '', name: name ?? '', from: from ?? '', to: to ?? '' },
  };
}

const msOf = (time: string): number => (Number(time.slice(0, 2)) * 60 + Number(time.slice(3))) * MINUTE;

/** A hostname with an owner: below a public suffix are the names of many. Throws `invalid_request`. */
function requireOwn(name: string): string {
  const { hostname, registrable_domain } = hostnameOfField(name, 'name');
  if (registrable_domain !== null) return hostname;
  const message = `name: ${hostname} is a public suffix, with names of many owners below it; give one of those names`;
  throw new Fault('invalid_request', message, { field: 'name' });
}

/** Filters as a query, without those that are empty. */
function queryText(filter: Record<string, string>): string {
  return new URLSearchParams(Object.entries(filter).filter(([, value]) => value !== '')).toString();
}

function read({ store }: AppContext, { since, until, kind, signal, below, limit, before }: Query) {
  const narrow = { since, until, kind, signal, below };
  const found = store.records.deltas(narrow, { limit: limit + 1, cursor: before });
  const { rows, next } = pageOf(found, limit, ({ seq }) => cursorOf([seq]));
  return { rows, next, total: store.records.deltaCount(narrow) };
}

function jsonOf(app: AppContext, query: Query) {
  const { rows, next, total } = read(app, query);
  const { day, limit, filter } = query;
  const given = Object.fromEntries(new URLSearchParams(queryText(filter)));
  return {
    text: JSON.stringify({ day, items: rows.map(deltaRow), total, next_cursor: next }),
    link: nextLink(`${app.settings.dataOrigin}/changes/${day}`, { ...given, limit }, next),
  };
}

function viewOf(
  app: AppContext,
  query: Query,
  today: string,
  frame: RecordsPages['/records/changes']['frame'],
): RecordsPages['/records/changes'] {
  const { day, limit, cursor, filter } = query;
  const { rows, next, total } = read(app, query);
  const { records } = app.store;
  const first = records.deltas({}, { limit: 1, order: 'oldest' })[0];
  const firstDay = first === undefined ? today : dayOf(first.at);
  const counts = countsOf(records.changesByDay(day, dayAfter(day)), `/changes/${day}`);
  const further = queryText({ ...filter, limit: limit === LIMIT ? '' : String(limit), cursor: next ?? '' });
  const filtered = queryText(filter);
  const at = (other: string) => `/changes/${other}${filtered && `?${filtered}`}`;
  return {
    frame,
    day,
    is_today: day === today,
    total,
    total_of_day: counts.reduce((sum, count) => sum + count.total, 0),
    filter,
    is_filtered: filtered !== '',
    signals: Object.keys(SIGNAL_MEANINGS).map((value) => ({ value, label: signalLabel(value) })),
    kinds: [...KINDS],
    counts,
    groups: groupsOf(records, rows, today),
    shown: rows.length,
    earlier: day > firstDay ? at(dayAfter(day, -1)) : null,
    later: day < today ? at(dayAfter(day)) : null,
    next: next === null ? null : `/changes/${day}?${further}`,
    is_continued: cursor !== undefined,
    days: dayBars(app, today, DAYS_DRAWN),
  };
}

/** Changes by registrable domain, in the order of the newest change of each. */
function groupsOf(records: AppContext['store']['records'], rows: Delta[], today: string): ChangeGroup[] {
  const groups = Map.groupBy(rows, ({ domain }) => registrableDomain(domain) ?? domain);
  const trends = hostTrends(
    records,
    rows.map(({ domain }) => domain),
    today,
  );
  return [...groups].map(([domain, items]) => {
    const hosts = [...new Set(items.map((item) => item.domain))];
    const series = hosts.map((host) => trends.get(host)?.changes ?? []);
    const changes = (series[0] ?? []).map((_, at) => series.reduce((sum, counts) => sum + (counts[at] ?? 0), 0));
    const unicode = domainToUnicode(domain);
    const url =
      hosts.length === 1 && hosts[0] === domain ? `/t/${domain}` : `/domains?q=${encodeURIComponent(unicode)}`;
    return { domain, unicode, url, items: items.map(changeView), changes, changes_label: changesLabel(changes) };
  });
}

function countsOf(rows: { signal: string; kind: Delta['kind']; count: number }[], path: string): SignalCount[] {
  const counts = new Map<string, SignalCount>();
  for (const { signal, kind, count } of rows) {
    const row = counts.get(signal) ?? {
      signal: signalLabel(signal),
      ...(SIGNAL_MEANINGS as Readonly<Record<string, { title: string; meaning: string }>>)[signal],
      ...{ added: 0, removed: 0, changed: 0, total: 0, url: `${path}?signal=${signal}` },
    };
    row[kind] += count;
    row.total += count;
    counts.set(signal, row as SignalCount);
  }
  return [...counts.values()].sort((a, b) => b.total - a.total || (a.signal < b.signal ? -1 : 1));
}
