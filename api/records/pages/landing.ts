import { dayAfter, dayOf, isoOrNull } from '../../../src/proof/time.ts';
import { LANDING_SAMPLE } from '../../../src/records/landing-sample.ts';
import type { LandingView, TopList } from '../../../src/records/views.ts';
import { tapeRow } from '../../../src/records/wire-rows.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { ResponseCache } from '../../responses/response-cache.ts';
import type { RecordsContext } from '../route.ts';
import { changeTotal, observationsState } from '../send.ts';
import { TAPE_ROWS } from '../v1/changes.ts';
import { dayBars } from './change-view.ts';
import { listOfKind, nameRow } from './facets.ts';
import type { PageSender } from './page.ts';

/** Rows of each list: the rest takes an account. */
const TOP = 3;
/** Maximum and minimum number of days in the chart. */
const DAYS_DRAWN = 60;
const DAYS_TOLD = 3;

export const landingPage = (app: AppContext, pages: PageSender) => {
  const { records } = app.store;
  const cache = new ResponseCache();
  const total = changeTotal(records);
  return (c: RecordsContext) => {
    const frame = pages.frame(c, {
      title: 'Domain Records: signed observations of hostnames',
      description:
        'Watches the DNS records and certificates of hostnames, signs every observation, and shows what changed.',
      path: '/',
    });
    const today = dayOf(app.clock.now());
    const view = () => viewOf(app, today, total(), frame);
    const state = observationsState(records);
    return pages.sendCached(c, '/records/landing', { frame, view }, { cache, name: today, state });
  };
};

function viewOf(app: AppContext, today: string, changes: number, frame: LandingView['frame']): LandingView {
  const { records } = app.store;
  const { watched, paused } = records.counts();
  const tape = records.deltas({}, { limit: TAPE_ROWS });
  const hosts = records.list('', TOP);
  const changes_today = records.deltaCount({ since: Date.parse(today), until: Date.parse(dayAfter(today)) });
  const bars = dayBars(app, today, DAYS_DRAWN);
  const days = bars.slice(bars.findIndex(({ count }) => count > 0)).filter(() => changes > 0);
  return {
    frame,
    totals: { watched, paused, observations: records.nextSeq() - 1, changes, changes_today },
    last_look_at: isoOrNull(records.lastProbeAt()),
    tape: tape.map((delta) => ({ ...tapeRow(delta), url: `/t/${delta.domain}` })),
    lists: [
      {
        name: 'Hostnames',
        about: 'Every watched hostname and all of its records',
        items: hosts.map(({ hostname, unicode, looked_at }) => ({
          text: unicode,
          detail: looked_at === null ? 'not observed yet' : `seen ${dayOf(looked_at)}`,
          url: `/t/${hostname}`,
        })),
        total: watched + paused,
        all_url: '/domains',
      },
      facetList(app, 'service', 'Who serves mail, DNS and web pages, for which hostnames', watched),
      facetList(app, 'issuer', 'Whose certificates are in use, and where', watched),
    ].filter(({ total }) => total > 0),
    days: days.length < DAYS_TOLD ? [] : days,
    example: tape[0]?.domain ?? hosts[0]?.hostname ?? 'example.com',
    sample: watched + paused === 0 ? LANDING_SAMPLE : null,
  };
}

function facetList({ store }: AppContext, kind: 'service' | 'issuer', about: string, watched: number): TopList {
  const list = listOfKind(kind);
  return {
    name: list.heading,
    about,
    items: store.records.topFacets(kind, TOP).map((facet) => {
      const { name, count, url } = nameRow(list, facet, watched);
      return { text: name, detail: count === 1 ? '1 hostname' : `${count.toLocaleString('en')} hostnames`, url };
    }),
    total: store.records.facetNames(kind),
    all_url: list.path,
  };
}
