import * as z from 'zod';
import { cursorOf, placeOf } from '../desk/params.ts';
import { pageOf } from './answers.ts';
import type { RecordsDoors } from './doors.ts';
import { frameOf } from './frame.ts';
import { endOf, hostRow, keptLists, partWanted, sendListJson } from './list-page.ts';
import { waysBeside } from './name-lists.ts';
import { openPage, sendKeptPage, wantsPage } from './page.ts';
import { looksState } from './public-state.ts';

const Place = z.tuple([z.string()]);

/** The catalog's page: every hostname under watch. */
export function catalogDoor(doors: RecordsDoors): void {
  const { records } = doors.shop.store;
  const kept = keptLists();
  openPage(doors, '/domains', (c) => {
    const { limit, cursor, isWhole } = partWanted(c);
    const part = () => {
      const [after = ''] = cursor === undefined ? [] : placeOf(Place, cursor);
      const { rows, next } = pageOf(records.list(after, limit + 1), limit, ({ hostname }) => cursorOf([hostname]));
      const { watched, paused } = records.counts();
      return { rows: rows.map(hostRow), total: watched + paused, next };
    };
    if (!wantsPage(c)) {
      return sendListJson(doors, c, kept, () => {
        const { rows, ...rest } = part();
        return { ...rest, rows: rows.map(({ url: _, ...row }) => row) };
      });
    }
    const lede = 'Every hostname under watch, by name. Each is looked at over and over; each look is signed.';
    const frame = frameOf(doors.shop, c, { title: 'Catalog · Domain Records', description: lede, path: '/domains' });
    const view = () => {
      const found = part();
      const end = endOf(doors, found, isWhole, '/domains');
      return { frame, heading: 'Catalog', lede, ways: waysBeside(), rows: found.rows, end };
    };
    const state = looksState(records);
    return sendKeptPage(doors, c, '/records/hosts', { frame, view }, { kept, name: '/domains', state });
  });
}
