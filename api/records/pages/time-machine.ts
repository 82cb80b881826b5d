import { z } from '@hono/zod-openapi';
import { Fault } from '../../../src/fault.ts';
import { parseHostname } from '../../../src/records/hostname.ts';
import { previewOf } from '../../../src/records/preview.ts';
import { notObserved, requireHost } from '../../../src/records/require-host.ts';
import { dayOf, isoTime, parseSpan } from '../../../src/time.ts';
import { readCursor } from '../../responses/paging.ts';
import { ResponseCache } from '../../responses/response-cache.ts';
import { JSON_BESIDE_PAGE, sendMade } from '../public-answer.ts';
import type { RecordsContext, RecordsDoors } from '../route.ts';
import { frameOf } from './frame.ts';
import { openPage, sendKeptPage, sendPage, wantsPage } from './page.ts';
import { timeMachineView } from './time-machine-view.ts';

/**
 * The time machine: what was seen of a hostname, now or at a time that is picked.
 * Everybody sees what a preview shows; who is signed in sees every field. JSON
 * is the preview.
 */
export function timeMachineDoor(doors: RecordsDoors): void {
  const { app } = doors;
  const { records } = app.store;
  const kept = new ResponseCache();
  openPage(doors, '/t/:domain', async (c) => {
    const given = c.req.param('domain') ?? '';
    const { hostname, unicode } = parseHostname(given);
    // One address for each name: in A-labels, lower case, without the last dot.
    if (hostname !== given) return c.redirect(`/t/${hostname}${new URL(c.req.url).search}`, 308);
    const host = requireHost(records, hostname);
    const asOf = asOfIn(c, app.now());
    const observation = records.observation(host.id, asOf?.at);
    const first = records.firstObservedAt(host.id);
    if (!wantsPage(c)) {
      if (observation === null) throw notObserved(hostname, asOf?.at, first ?? undefined);
      const made = await kept.load('json', String(observation.seq), () => JSON.stringify(previewOf(observation)));
      return sendMade(c, made, JSON_BESIDE_PAGE);
    }
    const before = changesBefore(c);
    const frame = frameOf(app, c, {
      title: `${unicode} · Domain Records`,
      description: `The latest signed observation of ${unicode}: name servers, number of records, what changed, and the receipt.`,
      path: `/t/${hostname}`,
      noindex: observation === null || asOf !== null || before !== undefined,
    });
    const view = () => timeMachineView(app, { frame, host, observation, first, asOf: asOf?.text ?? null, before });
    if (observation === null) {
      return sendPage(doors, c, '/records/time-machine', view(), { status: first === null ? 200 : 404 });
    }
    // All that a page shows of a host changes with a look at it, with a pause, or at midnight.
    const state = `${observation.seq} ${host.seq} ${host.state} ${dayOf(app.now())}`;
    const name = `${host.id} ${asOf?.text ?? ''} ${before ?? ''}`;
    return sendKeptPage(doors, c, '/records/time-machine', { frame, view }, { kept, name, state });
  });
}

/** The last millisecond that is asked for; null for the latest. Throws `invalid_request`. */
function asOfIn(c: RecordsContext, now: number): { text: string; at: number } | null {
  const text = c.req.query('as_of') ?? '';
  // A form that was sent with nothing picked.
  if (text === '') return null;
  const span = parseSpan(text);
  const refuse = (why: string) =>
    new Fault('invalid_request', `as_of: ${JSON.stringify(text.slice(0, 60))} ${why}`, { field: 'as_of' });
  if (span === null) {
    throw refuse('is no day or time of the calendar; write 2026-11-20, or 2026-11-20T09:30:00Z (a + goes as %2B)');
  }
  if (span.from > now) throw refuse(`is to come; it is ${isoTime(now)}`);
  return { text, at: span.until - 1 };
}

/** Where the list of changes goes on, for who is signed in. Throws `invalid_request`. */
function changesBefore(c: RecordsContext): number | undefined {
  const cursor = c.req.query('changes');
  return cursor === undefined ? undefined : readCursor(z.tuple([z.int().min(0)]), cursor)[0];
}
