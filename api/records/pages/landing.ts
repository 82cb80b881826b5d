import type { AppContext } from '../../../src/app/context.ts';
import { changeLine } from '../../../src/records/change-line.ts';
import type { LandingView, TopList } from '../../../src/records/views.ts';
import { dayAfter, dayOf, isoOrNull, isoTime } from '../../../src/time.ts';
import { ResponseCache } from '../../responses/response-cache.ts';
import { changeTotal, observationsState } from '../public-state.ts';
import type { RecordsDoors } from '../route.ts';
import { TAPE_ROWS } from '../v1/tape.ts';
import { changeView } from './change-view.ts';
import { dayBars } from './day.ts';
import type { FacetList } from './facet-lists.ts';
import { FACET_LISTS, nameRow } from './facet-lists.ts';
import { frameOf } from './frame.ts';
import { openPage, sendKeptPage } from './page.ts';

/** A public list shows so many (spec, "Public web surface"). */
const TOP = 3;
/** Days of the chart. */
const DAYS_DRAWN = 60;

/** The front door: totals, the tape, and the top of every list. */
export function landingDoor(doors: RecordsDoors): void {
  const { app } = doors;
  const kept = new ResponseCache();
  const total = changeTotal(app.store.records);
  openPage(doors, '/', (c) => {
    const frame = frameOf(app, c, {
      title: 'Domain Records: signed observations of hostnames',
      description: 'Watches the DNS records and certificates of hostnames, signs every look, and tells what changed.',
      path: '/',
    });
    const today = dayOf(app.now());
    const view = () => viewOf(app, today, total(), frame);
    return sendKeptPage(
      doors,
      c,
      '/records/landing',
      { frame, view },
      { kept, name: today, state: observationsState(app.store.records) },
    );
  });
}

function viewOf(app: AppContext, today: string, changes: number, frame: LandingView['frame']): LandingView {
  const { records } = app.store;
  const { watched, paused } = records.counts();
  const tape = records.deltas({}, { limit: TAPE_ROWS });
  const hosts = records.list('', TOP);
  const lastLook = records.lastProbeAt();
  const changes_today = records.deltaCount({ since: Date.parse(today), until: Date.parse(dayAfter(today)) });
  return {
    frame,
    totals: { watched, paused, observations: records.nextSeq() - 1, changes, changes_today },
    last_look_at: isoOrNull(lastLook),
    tape: tape.map((delta) => ({
      seq: delta.seq,
      at: isoTime(delta.at),
      domain: delta.domain,
      url: `/t/${delta.domain}`,
      kind: delta.kind,
      line: changeLine(delta),
    })),
    lists: [
      {
        name: 'Hostnames',
        about: 'Every hostname under watch, and every record of each',
        items: hosts.map(({ hostname, unicode, looked_at }) => ({
          text: unicode,
          detail: looked_at === null ? 'not looked at yet' : `seen ${dayOf(looked_at)}`,
          url: `/t/${hostname}`,
        })),
        total: watched + paused,
        all_url: '/domains',
      },
      {
        name: 'Changes',
        about: 'The whole change wire, by hostname, type and time',
        items: tape.slice(0, TOP).map((delta) => {
          const { unicode, signal, kind, url } = changeView(delta);
          return { text: unicode, detail: `${signal} ${kind}`, url };
        }),
        total: changes,
        all_url: '/account',
      },
      facetList(app, 'service', 'Who serves mail, names and pages, for which hostnames', watched),
      facetList(app, 'issuer', 'Whose certificates are in use, and where', watched),
    ],
    days: dayBars(app, today, DAYS_DRAWN),
    example: tape[0]?.domain ?? hosts[0]?.hostname ?? 'example.com',
  };
}

function facetList({ store }: AppContext, kind: 'service' | 'issuer', about: string, watched: number): TopList {
  const list = FACET_LISTS.find((one) => one.kind === kind) as FacetList;
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
