import { z } from '@hono/zod-openapi';
import type { AppContext } from '../../../src/app/context.ts';
import { Fault } from '../../../src/fault.ts';
import { parseHostname } from '../../../src/records/hostname.ts';
import { previewOf } from '../../../src/records/preview.ts';
import { notObserved, requireHost } from '../../../src/records/require-host.ts';
import { dayOf, isoTime, parseSpan } from '../../../src/time.ts';
import { readCursor } from '../../responses/paging.ts';
import { ResponseCache } from '../../responses/response-cache.ts';
import type { RecordsContext } from '../context.ts';
import { JSON_BESIDE_PAGE, sendPublic } from '../send.ts';
import type { PageSender } from './page.ts';
import { wantsPage } from './page.ts';
import { timeMachineView } from './time-machine-view.ts';

/**
 * The time machine: a hostname as of now or a chosen time. Everyone sees what a preview shows, signed-in readers every
 * field. As JSON it is the preview.
 */
export const timeMachinePage = (app: AppContext, pages: PageSender) => {
  const { records } = app.store;
  const cache = new ResponseCache();
  return async (c: RecordsContext) => {
    const given = c.req.param('domain') ?? '';
    const { hostname, unicode } = parseHostname(given);
    // Every hostname has one address: A-labels, lower case, no trailing dot.
    if (hostname !== given) return c.redirect(`/t/${hostname}${new URL(c.req.url).search}`, 308);
    const host = requireHost(records, hostname);
    const asOf = asOfIn(c, app.now());
    const observation = records.observation(host.id, asOf?.at);
    const first = records.firstObservedAt(host.id);
    if (!wantsPage(c)) {
      if (observation === null) throw notObserved(hostname, asOf?.at, first ?? undefined);
      const json = await cache.load('json', String(observation.seq), () => JSON.stringify(previewOf(observation)));
      return sendPublic(c, json, JSON_BESIDE_PAGE);
    }
    const before = changesBefore(c);
    const frame = pages.frame(c, {
      title: `${unicode} · Domain Records`,
      description: `The latest signed observation of ${unicode}: name servers, number of records, changes, and the receipt.`,
      path: `/t/${hostname}`,
      noindex: observation === null || asOf !== null || before !== undefined,
    });
    const view = () => timeMachineView(app, { frame, host, observation, first, asOf: asOf?.text ?? null, before });
    if (observation === null) {
      return pages.send(c, '/records/time-machine', view(), { status: first === null ? 200 : 404 });
    }
    // The page of a host changes with its observations, when it is paused, and at midnight.
    const state = `${observation.seq} ${host.seq} ${host.state} ${dayOf(app.now())}`;
    const name = `${host.id} ${asOf?.text ?? ''} ${before ?? ''}`;
    return pages.sendCached(c, '/records/time-machine', { frame, view }, { cache, name, state });
  };
};

/** The requested time as its last millisecond; null for the latest. Throws `invalid_request`. */
function asOfIn(c: RecordsContext, now: number): { text: string; at: number } | null {
  const text = c.req.query('as_of') ?? '';
  // The form was sent without a date.
  if (text === '') return null;
  const span = parseSpan(text);
  const refuse = (why: string) =>
    new Fault('invalid_request', `as_of: ${JSON.stringify(text.slice(0, 60))} ${why}`, { field: 'as_of' });
  if (span === null) {
    throw refuse('is not a valid date or time; write 2026-11-20 or 2026-11-20T09:30:00Z (encode + as %2B)');
  }
  if (span.from > now) throw refuse(`is in the future; it is now ${isoTime(now)}`);
  return { text, at: span.until - 1 };
}

/** The cursor of the list of changes, for signed-in readers. Throws `invalid_request`. */
function changesBefore(c: RecordsContext): number | undefined {
  const cursor = c.req.query('changes');
  return cursor === undefined ? undefined : readCursor(z.tuple([z.int().min(0)]), cursor)[0];
}
