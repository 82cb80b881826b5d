import * as z from 'zod';
import type { WatchedHost } from '../../../src/store/records-hostnames.ts';
import { cursorOf, pageOf, readCursor } from '../../responses/paging.ts';

import { observationsState } from '../public-state.ts';
import type { RecordsContext, RecordsDoors } from '../route.ts';
import { waysBeside } from './facets.ts';
import { frameOf } from './frame.ts';
import type { ListPart } from './list.ts';
import { endOf, hostRow, keptLists, partWanted, sendListJson } from './list.ts';
import { openPage, sendKeptPage, wantsPage } from './page.ts';

const NamePlace = z.tuple([z.string()]);
const IdPlace = z.tuple([z.int().min(0)]);
/** Hostnames that fit words are counted no further. */
export const COUNTED = 10_000;
/** Of the words, in characters. */
const LONGEST = 253;

/** The catalog's page: every hostname under watch, or with `q` those that fit some words. */
export function catalogDoor(doors: RecordsDoors): void {
  const { records } = doors.app.store;
  const kept = keptLists();
  openPage(doors, '/domains', (c) => {
    const { isWhole } = partWanted(c);
    const q = (c.req.query('q') ?? '').trim().slice(0, LONGEST);
    const part = () => (q === '' ? everyHost(doors, c) : hostsThatFit(doors, c, q));
    const address = q === '' ? '/domains' : `/domains?q=${encodeURIComponent(q)}`;
    if (!wantsPage(c)) {
      return sendListJson(doors, c, { kept, name: address }, () => {
        const { rows, ...rest } = part();
        return { ...rest, rows: rows.map(({ url: _, ...row }) => row) };
      });
    }
    const lede =
      q === ''
        ? 'Every hostname under watch, by name. Each is looked at over and over; each look is signed.'
        : `Hostnames with a label that begins with each word of “${q}”, in the order in which they came under watch.`;
    const about = { title: 'Catalog · Domain Records', description: lede, path: '/domains', noindex: q !== '' };
    const frame = frameOf(doors.app, c, about);
    const view = () => {
      const found = part();
      const end = endOf(doors, found, isWhole, address);
      const heading = q === '' ? 'Catalog' : 'Found in the catalog';
      return {
        frame,
        heading,
        lede,
        ways: waysBeside(),
        rows: found.rows,
        end,
        at_least: q !== '' && end.total >= COUNTED,
      };
    };
    const state = observationsState(records);
    return sendKeptPage(doors, c, '/records/hosts', { frame, view }, { kept, name: address, state });
  });
}

type HostPart = ListPart<ReturnType<typeof hostRow>>;

function everyHost({ app }: RecordsDoors, c: RecordsContext): HostPart {
  const { records } = app.store;
  const { limit, cursor } = partWanted(c);
  const [after = ''] = readCursor(NamePlace, cursor);
  const { watched, paused } = records.counts();
  const found = records.list(after, limit + 1);
  return partOf(found, limit, ({ hostname }) => cursorOf([hostname]), watched + paused);
}

function hostsThatFit({ app }: RecordsDoors, c: RecordsContext, q: string): HostPart {
  const { records } = app.store;
  const { limit, cursor } = partWanted(c);
  const [after] = readCursor(IdPlace, cursor);
  const found = records.search(q, limit + 1, after);
  return partOf(found, limit, ({ id }) => cursorOf([id]), records.searchCount(q, COUNTED));
}

function partOf(found: WatchedHost[], limit: number, cursorAt: (last: WatchedHost) => string, total: number): HostPart {
  const { rows, next } = pageOf(found, limit, cursorAt);
  return { rows: rows.map(hostRow), total, next };
}
