import { DAY, parseSpan } from '../../../src/proof/time.ts';
import { parseHostname } from '../../../src/records/hostname.ts';
import { asOfEnd, notObserved, requireHost } from '../../../src/records/require-host.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Fault } from '../../../src/shared/fault.ts';
import type { WatchedHost } from '../../../src/store/records/records-hostnames.ts';
import { signedIn } from '../../middleware/session.ts';
import { readCursor } from '../../responses/paging.ts';
import { ResponseCache, representationOf } from '../../responses/response-cache.ts';
import type { RecordsContext } from '../route.ts';
import { JSON_BESIDE_PAGE, sendPublic } from '../send.ts';
import { ChangeCursor } from '../v1/params.ts';
import { type PageSender, wantsPage } from './page.ts';
import { timeMachineJson, timeMachineView } from './time-machine-view.ts';

/** The size of the cache, in bytes: some 2,000 pages. */
const CACHE_MAX = 32 * 1024 * 1024;

/**
 * A hostname as of now or a chosen time. Everyone sees what a preview shows, signed-in readers every field. Its JSON is
 * the preview for all: the throttle of `/v1/domains/{domain}` guards that lane, not what a preview shows, which is
 * public here.
 */
export const timeMachine = (app: AppContext, pages: PageSender) => {
  const { records } = app.store;
  const cache = new ResponseCache(CACHE_MAX);
  const titleOf = ({ hostname, unicode }: Pick<WatchedHost, 'hostname' | 'unicode'>) => ({
    title: `${unicode} · Domain Records`,
    description: `The latest signed observation of ${unicode}: name servers, number of records, changes, and the receipt.`,
    path: `/t/${hostname}`,
  });

  /** What everyone sees now: made once per observation, once more when the host is paused, and each midnight. */
  const latest = async (c: RecordsContext, hostname: string, state: string) => {
    const isPage = wantsPage(c);
    const make = () => {
      const host = requireHost(records, hostname);
      const observation = records.observation(host.id);
      if (observation === null) throw notObserved(hostname);
      if (!isPage) return timeMachineJson(app.settings, observation, null);
      const frame = pages.frame(c, titleOf(host));
      const first = records.firstObservedAt(host.id);
      const view = timeMachineView(app, { frame, host, observation, first, asOf: null, before: undefined });
      return pages.render('/records/time-machine', view);
    };
    const name = `${isPage ? 'page' : 'json'} ${hostname}`;
    const shown = await cache.load(name, `${state} ${Math.floor(app.clock.now() / DAY)}`, make);
    return isPage ? pages.sendShared(c, shown) : sendPublic(c, shown, JSON_BESIDE_PAGE);
  };

  return async (c: RecordsContext) => {
    const given = c.req.param('domain') ?? '';
    const isForAll = signedIn(c) === null && !c.req.url.includes('?');
    // Read before the observation: if another process stores one in between, the next request makes the page again.
    const state = isForAll ? records.observedState(given) : null;
    if (state !== null) return latest(c, given, state);
    const { hostname } = parseHostname(given);
    // Every hostname has one address: A-labels, lower case, no trailing dot.
    if (hostname !== given) return c.redirect(`/t/${hostname}${new URL(c.req.url).search}`, 308);
    const host = requireHost(records, hostname);
    const asOf = asOfIn(c, app.clock.now());
    const observation = records.observation(host.id, asOf?.at);
    const first = records.firstObservedAt(host.id);
    if (!wantsPage(c)) {
      if (observation === null) throw notObserved(hostname, asOf?.at, first ?? undefined);
      return sendPublic(
        c,
        representationOf(timeMachineJson(app.settings, observation, asOf?.text ?? null)),
        JSON_BESIDE_PAGE,
      );
    }
    const before = changesBefore(c);
    const noindex = observation === null || asOf !== null || before !== undefined;
    const frame = pages.frame(c, { ...titleOf(host), noindex });
    const view = timeMachineView(app, { frame, host, observation, first, asOf: asOf?.text ?? null, before });
    const status = observation === null && first !== null ? 404 : 200;
    return pages.send(c, '/records/time-machine', view, { status });
  };
};

/** The requested time as its last millisecond; null for the latest. Throws `invalid_request`. */
function asOfIn(c: RecordsContext, now: number): { text: string; at: number } | null {
  const text = c.req.query('as_of') ?? '';
  // The form was sent without a date.
  if (text === '') return null;
  const span = parseSpan(text);
  if (span === null) {
    throw new Fault(
      'invalid_request',
      `as_of: ${JSON.stringify(text.slice(0, 60))} is not a valid date or time; write 2026-11-20 or 2026-11-20T09:30:00Z (encode + as %2B)`,
      { field: 'as_of' },
    );
  }
  return { text, at: asOfEnd(span, text, now) };
}

function changesBefore(c: RecordsContext): number | undefined {
  const cursor = c.req.query('changes');
  return cursor === undefined ? undefined : readCursor(ChangeCursor, cursor)[0];
}
