import { z } from '@hono/zod-openapi';
import type { AppContext } from '../../../src/app/context.ts';
import type { ChangesView } from '../../../src/records/views.ts';
import { deltaRow } from '../../../src/records/wire-rows.ts';
import { dayAfter, dayOf } from '../../../src/time.ts';
import { tellProblems } from '../../middleware/invalid.ts';
import { cursorOf, cursorParam, limitParam, nextLink, pageOf, readCursor } from '../../responses/paging.ts';
import { ResponseCache } from '../../responses/response-cache.ts';

import { JSON_BESIDE_PAGE, sendMade } from '../public-answer.ts';
import { changesState } from '../public-state.ts';
import type { RecordsContext, RecordsDoors } from '../route.ts';
import { changeView, signalLabel } from './change-view.ts';
import { dayBars, dayNamed } from './day.ts';
import { frameOf } from './frame.ts';
import { openPage, sendKeptPage, wantsPage } from './page.ts';

/** Days that are drawn beside the day's changes. */
const DAYS_DRAWN = 30;

const Query = z.object({ limit: limitParam(100, 1_000), cursor: cursorParam });

interface Asked {
  day: string;
  limit: number;
  cursor: string | undefined;
  place: number | undefined;
}

/** The changes of one UTC day, newest first: a page, and JSON to `Accept: application/json`. */
export function changesOfDay(doors: RecordsDoors): void {
  const { app } = doors;
  const kept = new ResponseCache();
  const answer = (c: RecordsContext, day: string, today: string) => {
    const { limit, cursor } = queryOf(c);
    const [place] = readCursor(z.tuple([z.int().min(0)]), cursor);
    const asked: Asked = { day, limit, cursor, place };
    const name = `${today} ${day} ${limit} ${place ?? ''}`;
    const state = changesState(app.store.records);
    if (!wantsPage(c)) return sendJson(c, asked, { name, state });
    const title = `Changes on ${day} · Domain Records`;
    const description = `DNS records and certificates of watched hostnames that changed on ${day} (UTC).`;
    const isPart = cursor !== undefined || c.req.path === '/changes/today';
    const frame = frameOf(app, c, { title, description, path: `/changes/${day}`, noindex: isPart });
    const view = () => viewOf(app, asked, today, frame);
    return sendKeptPage(doors, c, '/records/changes', { frame, view }, { kept, name: `${c.req.path} ${name}`, state });
  };
  const sendJson = async (c: RecordsContext, asked: Asked, { name, state }: { name: string; state: string }) => {
    const made = await kept.load(`json ${name}`, state, () => bodyOf(app, asked));
    return sendMade(c, made, JSON_BESIDE_PAGE);
  };

  openPage(doors, '/changes/today', (c) => {
    const today = dayOf(app.now());
    return answer(c, today, today);
  });
  openPage(doors, '/changes/:date', (c) => {
    const today = dayOf(app.now());
    return answer(c, dayNamed(c.req.param('date') ?? '', today), today);
  });
}

function queryOf(c: RecordsContext): z.infer<typeof Query> {
  const data = c.req.query();
  const found = Query.safeParse(data);
  if (found.success) return found.data;
  const refusal = { ...found, data };
  throw tellProblems(refusal);
}

function read({ store }: AppContext, { day, limit, place }: Asked) {
  const { since, until } = { since: Date.parse(day), until: Date.parse(dayAfter(day)) };
  const found = store.records.deltas({ since, until }, { limit: limit + 1, cursor: place });
  const { rows, next } = pageOf(found, limit, ({ seq }) => cursorOf([seq]));
  return { rows, next, total: store.records.deltaCount({ since, until }) };
}

function bodyOf(app: AppContext, asked: Asked) {
  const { rows, next, total } = read(app, asked);
  const { day, limit } = asked;
  return {
    text: JSON.stringify({ day, items: rows.map(deltaRow), total, next_cursor: next }),
    link: nextLink(`${app.settings.dataOrigin}/changes/${day}`, { limit }, next),
  };
}

function viewOf(app: AppContext, asked: Asked, today: string, frame: ChangesView['frame']): ChangesView {
  const { day, limit, cursor } = asked;
  const { rows, next, total } = read(app, asked);
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
  const counts = new Map<string, ChangesView['counts'][number]>();
  for (const { signal, kind, count } of rows) {
    const of = counts.get(signal) ?? { signal: signalLabel(signal), added: 0, removed: 0, changed: 0, total: 0 };
    of[kind] += count;
    of.total += count;
    counts.set(signal, of);
  }
  return [...counts.values()].sort((a, b) => b.total - a.total || (a.signal < b.signal ? -1 : 1));
}
