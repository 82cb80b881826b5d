import { present } from '../../../src/proof/narrow.ts';
import { previewOf } from '../../../src/proof/records/preview.ts';
import { dayAfter, dayOf, isoOrNull } from '../../../src/proof/time.ts';
import { notObserved, requireHost } from '../../../src/records/require-host.ts';
import type { DayBar, LandingSample, RecordsPages, TopList } from '../../../src/records/views.ts';
import { tapeRow } from '../../../src/records/wire-rows.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Fault } from '../../../src/shared/fault.ts';
import { ResponseCache } from '../../responses/response-cache.ts';
import type { RecordsContext } from '../route.ts';
import { changeTotal, observationsState } from '../send.ts';
import { TAPE_ROWS } from '../v1/changes.ts';
import { dayBars } from './change-view.ts';
import { listOfKind, trendRows } from './facets.ts';
import type { PageSender } from './page.ts';
import { exampleObservation, receiptView } from './receipt-view.ts';
import { changesLabel, hostTrends } from './trends.ts';

/** Invented changes per day of a month, with a peak in the middle. */
const COUNTS = [3, 5, 2, 0, 1, 4, 6, 3, 2, 5, 1, 0, 2, 4, 3, 9, 14, 6, 3, 2, 4, 1, 3, 5, 2, 6, 4, 3, 7, 5];
const days: DayBar[] = COUNTS.map((count, index) => ({ day: `2026-01-${String(index + 1).padStart(2, '0')}`, count }));

const CHANGES = [
  ['16:40', 'harbor-ledger.example', 'changed', 'A changed: 192.0.2.10 → 192.0.2.27'],
  ['16:02', 'tide-tables.example', 'added', 'CAA added: 0 issue "ca.example"'],
  ['14:31', 'www.north-quay.example', 'changed', 'certificate changed: CN=R11 → CN=R12'],
  ['11:18', 'chart-room.example', 'removed', 'AAAA removed: 2001:db8::5'],
  ['09:57', 'pilots-guild.example', 'changed', 'MX changed: 10 mx1.mail.example → 10 mx.post.example'],
  ['08:12', 'fog-signal.example', 'added', 'DMARC added: v=DMARC1; p=reject'],
] as const;

const item = (text: string, detail: string) => ({ text, detail, url: null, days: null });

/**
 * The content of the landing page while no hostname is watched. Its names (RFC 2606) and addresses (RFC 5737, RFC 3849)
 * are for documentation, and it has no links.
 */
export const LANDING_SAMPLE: LandingSample = {
  days,
  tape: CHANGES.map(([time, domain, kind, change], index) => ({
    seq: CHANGES.length - index,
    at: `2026-01-30T${time}:00.000Z`,
    domain,
    url: null,
    changes: null,
    kind,
    line: `${domain} ${change}`,
  })),
  lists: [
    {
      name: 'Hostnames',
      about: 'Every watched hostname and all of its records',
      items: [
        item('harbor-ledger.example', 'seen 2026-01-30'),
        item('tide-tables.example', 'seen 2026-01-30'),
        item('north-quay.example', 'seen 2026-01-30'),
      ],
      total: 12,
      all_url: null,
    },
    {
      name: 'Services',
      about: 'Who serves mail, DNS and web pages, for which hostnames',
      items: [item('Mail of Post Example', '7 hostnames'), item('DNS of Harbor Example', '5 hostnames')],
      total: 2,
      all_url: null,
    },
  ],
};

/** Rows of each list: the rest takes an account. */
const TOP = 3;
/** Maximum and minimum number of days in the chart. */
const DAYS_DRAWN = 60;
const DAYS_MIN = 3;

export const landingPage = (app: AppContext, pages: PageSender) => {
  const { records } = app.store;
  const cache = new ResponseCache();
  const cacheOfNames = new ResponseCache();
  const total = changeTotal(records);
  return async (c: RecordsContext) => {
    const asked = (c.req.query('name') ?? '').trim().slice(0, HOSTNAME_MAX);
    const frame = pages.frame(c, {
      title: 'Domain Records: signed observations of hostnames',
      description:
        'Watches the DNS records and certificates of hostnames, signs every observation, and shows what changed.',
      path: '/',
      noindex: asked !== '',
    });
    const today = dayOf(app.clock.now());
    const state = observationsState(records);
    if (asked === '') {
      const view = () => viewOf(app, today, total(), frame);
      return pages.sendCached(c, '/records/landing', { frame, view }, { cache, name: today, state });
    }
    const found = receiptAsked(app, asked);
    const view = () => ({ ...viewOf(app, today, total(), frame), ...found.shown });
    if (found.status !== 200) return pages.send(c, '/records/landing', view(), { status: found.status });
    const key = { cache: cacheOfNames, name: `${today} ${found.shown.receipt?.domain}`, state };
    return pages.sendCached(c, '/records/landing', { frame, view }, key);
  };
};

/** The longest hostname, in characters. */
const HOSTNAME_MAX = 253;

type Asked = Pick<RecordsPages['/records/landing'], 'receipt' | 'asked'>;

/** The receipt of a name that a reader typed, or why there is none. */
function receiptAsked({ store: { records } }: AppContext, name: string): { status: 200 | 400 | 404; shown: Asked } {
  try {
    const host = requireHost(records, name);
    const observation = records.observation(host.id);
    if (observation === null) throw notObserved(host.hostname);
    return {
      status: 200,
      shown: { receipt: receiptView(previewOf(observation)), asked: { name: host.unicode, refusal: null } },
    };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const status = error.code === 'invalid_request' ? 400 : 404;
    return { status, shown: { receipt: null, asked: { name, refusal: error.message } } };
  }
}

function viewOf(
  app: AppContext,
  today: string,
  changes: number,
  frame: RecordsPages['/records/landing']['frame'],
): RecordsPages['/records/landing'] {
  const { records } = app.store;
  const { watched, paused } = records.counts();
  const tape = records.deltas({}, { limit: TAPE_ROWS });
  const hosts = records.list('', TOP);
  const example = exampleObservation(records);
  const names = [...tape.map(({ domain }) => domain), ...hosts.map(({ hostname }) => hostname)];
  const trends = hostTrends(records, names, today);
  const changesOf = (hostname: string) => present(trends.get(hostname)).changes;
  const changes_today = records.deltaCount({ since: Date.parse(today), until: Date.parse(dayAfter(today)) });
  const bars = dayBars(app, today, DAYS_DRAWN);
  const days = bars.slice(bars.findIndex(({ count }) => count > 0)).filter(() => changes > 0);
  return {
    frame,
    totals: { watched, paused, observations: records.nextSeq() - 1, changes, changes_today },
    last_look_at: isoOrNull(records.lastProbeAt()),
    tape: tape.map((delta) => ({
      ...tapeRow(delta),
      url: `/t/${delta.domain}`,
      changes: changesOf(delta.domain),
    })),
    lists: [
      {
        name: 'Hostnames',
        about: 'Every watched hostname and all of its records',
        items: hosts.map(({ hostname, unicode, looked_at }) => ({
          text: unicode,
          detail: looked_at === null ? 'not observed yet' : `seen ${dayOf(looked_at)}`,
          url: `/t/${hostname}`,
          days: { counts: changesOf(hostname), level: false, label: changesLabel(changesOf(hostname)) },
        })),
        total: watched + paused,
        all_url: '/domains',
      },
      facetList(app, 'service', 'Who serves mail, DNS and web pages, for which hostnames'),
      facetList(app, 'issuer', 'Whose certificates are in use, and where'),
    ].filter(({ total }) => total > 0),
    days: days.length < DAYS_MIN ? [] : days,
    asked: null,
    receipt: example === null ? null : receiptView(previewOf(example)),
    example: tape[0]?.domain ?? hosts[0]?.hostname ?? 'example.com',
    sample: watched + paused === 0 ? LANDING_SAMPLE : null,
  };
}

function facetList(app: AppContext, kind: 'service' | 'issuer', about: string): TopList {
  const { records } = app.store;
  const list = listOfKind(kind);
  return {
    name: list.heading,
    about,
    items: trendRows(app, list, records.topFacets(kind, TOP)).map(({ name, count, url, trend }) => ({
      text: name,
      detail: count === 1 ? '1 hostname' : `${count.toLocaleString('en')} hostnames`,
      url,
      days: {
        counts: trend.counts,
        level: true,
        label: `from ${trend.counts[0]} hostnames on ${trend.since} to ${count}`,
      },
    })),
    total: records.facetNames(kind),
    all_url: list.path,
  };
}
