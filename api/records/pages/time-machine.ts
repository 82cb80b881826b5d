import { statementOf } from '../../../src/desk/clock-correction.ts';
import { correctionsIn, trueIso } from '../../../src/proof/clock-note.ts';
import type { Observation } from '../../../src/proof/records/observation.ts';
import { fullRecordOf, previewOf } from '../../../src/proof/records/preview.ts';
import { type Certificate, isKnown } from '../../../src/proof/records/signal.ts';
import { DAY, dayOf, isoTime, parseSpan } from '../../../src/proof/time.ts';
import { type ObservationReads, readsOf } from '../../../src/records/archive/reads.ts';
import { parseHostname } from '../../../src/records/hostname.ts';
import { asOfEnd, notObserved, requireHost } from '../../../src/records/require-host.ts';
import { historyOf } from '../../../src/records/value-history.ts';
import type { FullView, RecordsFrame, RecordsPages } from '../../../src/records/views.ts';
import type { AppContext } from '../../../src/server/context.ts';
import type { Settings } from '../../../src/server/env.ts';
import { Fault } from '../../../src/shared/fault.ts';
import type { WatchedHost } from '../../../src/store/records/records-hostnames.ts';
import { signedIn } from '../../middleware/session.ts';
import { cursorOf, pageOf, readCursor } from '../../responses/paging.ts';
import { ResponseCache, representationOf } from '../../responses/response-cache.ts';
import { offerOfLookup } from '../lanes/menu.ts';
import type { RecordsContext } from '../route.ts';
import { JSON_BESIDE_PAGE, sendPublic } from '../send.ts';
import { ChangeCursor } from '../v1/params.ts';
import { changeView, shortValue, signalLabel } from './change-view.ts';
import { type PageSender, wantsPage } from './page.ts';
import { receiptView } from './receipt-view.ts';
import { comparedView, timelineView } from './timeline.ts';

/** The size of the cache, in bytes: some 2,000 pages. */
const CACHE_MAX = 32 * 1024 * 1024;

/**
 * A hostname as of now or a chosen time. Everyone sees what a preview shows, signed-in readers every field. Its JSON is
 * the preview for all: the throttle of `/v1/domains/{domain}` guards that lane, not what a preview shows, which is
 * public here.
 */
export const timeMachine = (app: AppContext, pages: PageSender) => {
  const { records } = app.store;
  const observations = readsOf(app);
  const cache = new ResponseCache(CACHE_MAX);
  const titleOf = ({ hostname, unicode }: Pick<WatchedHost, 'hostname' | 'unicode'>) => ({
    title: `${unicode} · Domain Records`,
    description: `The latest signed observation of ${unicode}: name servers, number of records, changes, and the receipt.`,
    path: `/t/${hostname}`,
  });

  /** What everyone sees now: made once per observation, once more when the host is paused, and each midnight. */
  const latest = async (c: RecordsContext, hostname: string, state: string) => {
    const isPage = wantsPage(c);
    const make = async () => {
      const host = requireHost(records, hostname);
      const observation = records.observation(host.id);
      if (observation === null) throw notObserved(hostname);
      if (!isPage) return timeMachineJson(app.settings, observation, { asOf: null, other: null });
      const frame = pages.frame(c, titleOf(host));
      const first = records.firstObservedAt(host.id);
      const view = await timeMachineView(app, observations, {
        frame,
        host,
        observation,
        first,
        asOf: null,
        compare: '',
        other: null,
        before: undefined,
      });
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
    const asOf = timeIn(c, 'as_of', app.clock.now());
    const compare = timeIn(c, 'compare', app.clock.now());
    const observation = await observations.asOf(host, asOf?.at);
    if (observation !== null && c.req.query('compare') === PREVIOUS) {
      return c.redirect(await addressOfBoth(observations, host, observation), 302);
    }
    const other = compare === null ? null : await observations.asOf(host, compare.at);
    const first = records.firstObservedAt(host.id);
    if (compare !== null && other === null) throw notObserved(hostname, compare.at, first ?? undefined, 'compare');
    if (!wantsPage(c)) {
      if (observation === null) throw notObserved(hostname, asOf?.at, first ?? undefined);
      return sendPublic(
        c,
        representationOf(timeMachineJson(app.settings, observation, { asOf: asOf?.text ?? null, other })),
        JSON_BESIDE_PAGE,
      );
    }
    const before = changesBefore(c);
    const noindex = observation === null || asOf !== null || compare !== null || before !== undefined;
    const frame = pages.frame(c, { ...titleOf(host), noindex });
    const view = await timeMachineView(app, observations, {
      frame,
      host,
      observation,
      first,
      asOf: asOf?.text ?? null,
      compare: compare?.text ?? '',
      other,
      before,
    });
    const status = observation === null && first !== null ? 404 : 200;
    return pages.send(c, '/records/time-machine', view, { status });
  };
};

/** The requested time as its last millisecond; null for the latest. Throws `invalid_request`. */
function timeIn(c: RecordsContext, field: 'as_of' | 'compare', now: number): { text: string; at: number } | null {
  const text = c.req.query(field) ?? '';
  // The form was sent without a date.
  if (text === '' || text === PREVIOUS) return null;
  const span = parseSpan(text);
  if (span === null) {
    const message = `${field}: ${JSON.stringify(text.slice(0, 60))} is not a valid date or time; write 2026-11-20 or 2026-11-20T09:30:00Z (encode + as %2B)`;
    throw new Fault('invalid_request', message, { field });
  }
  return { text, at: asOfEnd(span, text, now, field) };
}

function changesBefore(c: RecordsContext): number | undefined {
  const cursor = c.req.query('changes');
  return cursor === undefined ? undefined : readCursor(ChangeCursor, cursor)[0];
}

/** Instead of a time to compare with: the observation before the one that is shown. */
const PREVIOUS = 'previous';

/** The address of an observation compared with the one before it; for the first one, without a comparison. */
async function addressOfBoth(
  reads: ObservationReads,
  host: WatchedHost,
  { seq, record }: Observation,
): Promise<string> {
  const earlier = await reads.timeBefore(host, seq);
  const compare = earlier === null ? '' : `&compare=${isoTime(earlier)}`;
  return `/t/${host.hostname}?as_of=${record.observed_at}${compare}`;
}

const TOP = 3;
const PAGE = 50;
/** Changes on the timeline. */
const CHANGES_DRAWN = 500;
/** Values on a page for signed-in readers; the API has all of them. */
const VALUES = 500;

interface Request {
  frame: RecordsFrame;
  host: WatchedHost;
  /** Null when there is none as of the requested time. */
  observation: Observation | null;
  /** When the host was first observed, in ms. */
  first: number | null;
  asOf: string | null;
  /** The other observation, to compare with, and its time as the reader wrote it. */
  compare: string;
  other: Observation | null;
  /** Only changes before this number; undefined for the latest. */
  before: number | undefined;
}

async function timeMachineView(
  { store, clock: { now } }: AppContext,
  reads: ObservationReads,
  { frame, host, observation, first, asOf, compare, other, before }: Request,
): Promise<RecordsPages['/records/time-machine']> {
  const { records } = store;
  const isSignedIn = frame.signed_in !== null;
  const today = dayOf(now());
  const newest = records.deltas({ host: host.id }, { limit: CHANGES_DRAWN });
  const listed = isSignedIn ? records.deltas({ host: host.id }, { limit: PAGE + 1, cursor: before }) : newest;
  const { rows, next } = pageOf(listed, isSignedIn ? PAGE : TOP, ({ seq }) => cursorOf([seq]));
  const history = await historyOf(store, host.id, () => reads.all(host));
  return {
    frame,
    domain: host.hostname,
    unicode: host.unicode,
    registrable_domain: host.registrable_domain,
    is_paused: host.state === 'paused',
    added_at: isoTime(host.added_at),
    as_of: asOf,
    first_day: first === null ? null : dayOf(first),
    today,
    observation: observation === null ? null : await observationView(store, reads, host, observation, isSignedIn),
    first_observed_at: first === null ? null : isoTime(first),
    observations: records.observationCount(host.id),
    changes: {
      items: rows.map(changeView),
      total: records.deltaCount({ host: host.id }),
      next: isSignedIn && next !== null ? `/t/${host.hostname}?changes=${next}` : null,
    },
    timeline:
      first === null
        ? null
        : timelineView(history, {
            ...{ host, isSignedIn, first, now: now() },
            changes: newest.toReversed(),
            baseline: records.baseline(host.id),
            moments: [observation, other].flatMap((shown) => (shown === null ? [] : [shown.record.observed_at])),
          }),
    compared:
      observation === null || other === null
        ? null
        : comparedView(host, [observation, other], { changes: newest, isSignedIn }),
    compare,
    history: isSignedIn ? historyView(history) : null,
    badge_url: `/badge/${host.hostname}.svg`,
    provenance_url: `/account/exports/domains/${host.hostname}/provenance.json`,
  };
}

async function observationView(
  { desk: { clockNotes } }: AppContext['store'],
  reads: ObservationReads,
  host: WatchedHost,
  observation: Observation,
  isSignedIn: boolean,
): Promise<RecordsPages['/records/time-machine']['observation']> {
  const preview = previewOf(observation);
  const { seq, observed_at } = preview;
  const earlier = await reads.timeBefore(host, seq);
  const trueAt = trueIso(observed_at, seq, correctionsIn(clockNotes('records', '').map(statementOf)));
  return {
    ...receiptView(preview),
    true_at: trueAt === observed_at ? null : trueAt,
    earlier: earlier === null ? null : `/t/${host.hostname}?as_of=${isoTime(earlier)}`,
    full: isSignedIn ? fullView(observation) : null,
  };
}

function historyView(history: Awaited<ReturnType<typeof historyOf>>): RecordsPages['/records/time-machine']['history'] {
  const items = history.page({}, VALUES).map(({ signal, value, first_seen, last_seen, count }) => ({
    signal: signalLabel(signal),
    value: signal === 'CERTIFICATE' ? shortValue(value) : value,
    first_seen: isoTime(first_seen),
    last_seen: isoTime(last_seen),
    count,
  }));
  return { items, total: history.count({}) };
}

/** The time machine's JSON of an observation, and of another to compare with; `asOf` as the request gave it. */
function timeMachineJson(
  settings: Settings,
  observation: Observation,
  { asOf, other }: { asOf: string | null; other: Observation | null },
): string {
  const root = settings.dataOrigin;
  const preview = previewOf(observation);
  const query = asOf === null ? '' : `?as_of=${encodeURIComponent(asOf)}`;
  const path = `/v1/domains/${preview.domain}${query}`;
  const record = root + path;
  return JSON.stringify({
    view: 'time-machine',
    page: `${root}/t/${preview.domain}${query}`,
    as_of: asOf,
    record,
    ...preview,
    held_back: {
      ...preview.held_back,
      how: `This address shows everyone this preview, with a key too; its page shows every field to a signed-in account. GET ${record} shows every field to a key or a payment. Held-back fields are salted leaves of the same signed tree; they can be checked against this receipt when they are shown.`,
      ...offerOfLookup(settings, path),
    },
    ...(other === null ? {} : { compared_with: previewOf(other) }),
  });
}

function fullView(observation: Observation): FullView {
  const { signals, certificate, certificate_status, services, wildcard } = fullRecordOf(observation);
  return {
    signals: Object.entries(signals).map(([name, { status, ttl, values, transport, rtt_ms, flags }]) => ({
      name: signalLabel(name),
      status,
      is_known: isKnown({ status }),
      ttl: ttl === null ? '' : `${ttl} s`,
      values,
      via: [
        transport?.toUpperCase(),
        rtt_ms === null ? undefined : `${rtt_ms} ms`,
        flags.ad ? 'DNSSEC validated' : undefined,
      ]
        .filter((word) => word !== undefined)
        .join(', '),
    })),
    certificate: certificate && certificateView(certificate),
    certificate_status,
    services: services.map(({ service, kind, seen_in }) => ({
      service,
      kind,
      seen_in: seen_in.map(signalLabel).join(', '),
    })),
    wildcard: wildcard === null ? 'unknown' : wildcard ? 'yes: any name below it has an address' : 'no',
  };
}

function certificateView({ fingerprint256: fingerprint, san: names, ...rest }: Certificate) {
  return { ...rest, fingerprint, names };
}
