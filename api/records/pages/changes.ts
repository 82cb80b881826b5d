import { z } from '@hono/zod-openapi';
import { dayAfter, dayOf, daySpan } from '../../../src/proof/time.ts';
import type { RecordsPages } from '../../../src/records/views.ts';
import { deltaRow } from '../../../src/records/wire-rows.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { cursorOf, cursorParam, limitParam, nextLink, pageOf, readCursor } from '../../responses/paging.ts';
import { ResponseCache } from '../../responses/response-cache.ts';
import { validQuery } from '../list.ts';
import type { RecordsContext } from '../route.ts';
import { changesState, JSON_BESIDE_PAGE, sendPublic } from '../send.ts';
import { ChangeCursor } from '../v1/params.ts';
import { changeView, dayBars, requireDay, signalLabel } from './change-view.ts';
import { type PageSender, wantsPage } from './page.ts';

const DAYS_DRAWN = 30;

const QueryParams = z.object({ limit: limitParam(100, 1_000), cursor: cursorParam });

interface Query {
  day: string;
  limit: number;
  cursor: string | undefined;
  /** The cursor: only changes before this number. */
  before: number | undefined;
}

export function changesPages(app: AppContext, pages: PageSender) {
  const cache = new ResponseCache();
  const answer = async (c: RecordsContext, day: string, today: string) => {
    const { limit, cursor } = validQuery(c, QueryParams);
    const [before] = readCursor(ChangeCursor, cursor);
    const query: Query = { day, limit, cursor, before };
    const name = `${today} ${day} ${limit} ${before ?? ''}`;
    const state = changesState(app.store.records);
    if (!wantsPage(c)) {
      const json = await cache.load(`json ${name}`, state, () => jsonOf(app, query));
      return sendPublic(c, json, JSON_BESIDE_PAGE);
    }
    const title = `Changes on ${day} · Domain Records`;
    const description = `DNS records and certificates of watched hostnames that changed on ${day} (UTC).`;
    const isPart = cursor !== undefined || c.req.path === '/changes/today';
    const frame = pages.frame(c, { title, description, path: `/changes/${day}`, noindex: isPart });
    const view = () => viewOf(app, query, today, frame);
    const key = { cache, name: `${c.req.path} ${name}`, state };
    return pages.sendCached(c, '/records/changes', { frame, view }, key);
  };
  return {
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

function read({ store }: AppContext, { day, limit, before }: Query) {
  const { from: since, until } = daySpan(day);
  const found = store.records.deltas({ since, until }, { limit: limit + 1, cursor: before });
  const { rows, next } = pageOf(found, limit, ({ seq }) => cursorOf([seq]));
  return { rows, next, total: store.records.deltaCount({ since, until }) };
}

function jsonOf(app: AppContext, query: Query) {
  const { rows, next, total } = read(app, query);
  const { day, limit } = query;
  return {
    text: JSON.stringify({ day, items: rows.map(deltaRow), total, next_cursor: next }),
    link: nextLink(`${app.settings.dataOrigin}/changes/${day}`, { limit }, next),
  };
}

function viewOf(
  app: AppContext,
  query: Query,
  today: string,
  frame: RecordsPages['/records/changes']['frame'],
): RecordsPages['/records/changes'] {
  const { day, limit, cursor } = query;
  const { rows, next, total } = read(app, query);
  const { records } = app.store;
  const first = records.deltas({}, { limit: 1, order: 'oldest' })[0];
  const firstDay = first === undefined ? today : dayOf(first.at);
  const size = limit === 100 ? '' : `limit=${limit}&`;
  return {
    frame,
    day,
    is_today: day === today,
    total,
    counts: countsOf(records.changesByDay(day, dayAfter(day))),
    items: rows.map(changeView),
    earlier: day > firstDay ? `/changes/${dayAfter(day, -1)}` : null,
    later: day < today ? `/changes/${dayAfter(day)}` : null,
    next: next === null ? null : `/changes/${day}?${size}cursor=${next}`,
    is_continued: cursor !== undefined,
    days: dayBars(app, today, DAYS_DRAWN),
  };
}

function countsOf(rows: { signal: string; kind: 'added' | 'removed' | 'changed'; count: number }[]) {
  const counts = new Map<string, RecordsPages['/records/changes']['counts'][number]>();
  for (const { signal, kind, count } of rows) {
    const row = counts.get(signal) ?? { signal: signalLabel(signal), added: 0, removed: 0, changed: 0, total: 0 };
    row[kind] += count;
    row.total += count;
    counts.set(signal, row);
  }
  return [...counts.values()].sort((a, b) => b.total - a.total || (a.signal < b.signal ? -1 : 1));
}
