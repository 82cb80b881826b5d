import * as z from 'zod';
import { Fault } from '../../../src/fault.ts';
import { cursorOf, pageOf, readCursor } from '../../responses/paging.ts';
import type { ResponseCache } from '../../responses/response-cache.ts';

import { observationsState } from '../public-state.ts';
import type { RecordsContext, RecordsDoors } from '../route.ts';
import { serviceOf } from '../v1/facets.ts';
import type { FacetList } from './facet-lists.ts';
import { FACET_LISTS, nameRow } from './facet-lists.ts';
import { frameOf } from './frame.ts';
import type { ListPart } from './list.ts';
import { endOf, hostRow, keptLists, partWanted, sendListJson } from './list.ts';
import { openPage, sendKeptPage, wantsPage } from './page.ts';

const NamePlace = z.tuple([z.int().min(0), z.string()]);
const HostPlace = z.tuple([z.string()]);

/** The pages of services, issuers, hosts and types, and of the hostnames that have one of them. */
export function nameListDoors(doors: RecordsDoors): void {
  const kept = keptLists();
  for (const list of FACET_LISTS) {
    openPage(doors, list.path, (c) => namesAnswer(doors, c, kept, list));
    const below = list.kind === 'service' ? `${list.path}/:kind/:name` : `${list.path}/:name`;
    openPage(doors, below, (c) => hostsAnswer(doors, c, kept, list));
  }
}

function namesAnswer(doors: RecordsDoors, c: RecordsContext, kept: ResponseCache, list: FacetList) {
  const { records } = doors.app.store;
  const { path, kind, heading, noun, nouns, lede } = list;
  const { limit, cursor, isWhole } = partWanted(c);
  const part = () => {
    const [most, name] = readCursor(NamePlace, cursor);
    const after = most === undefined || name === undefined ? undefined : { count: most, name };
    const { rows, next } = pageOf(records.topFacets(kind, limit + 1, after), limit, (last) =>
      cursorOf([last.count, last.name]),
    );
    return { rows, total: records.facetNames(kind), next };
  };
  if (!wantsPage(c)) {
    return sendListJson(doors, c, { kept, name: path }, () => {
      const { rows, ...rest } = part();
      return { ...rest, rows: rows.map((row) => jsonRow(list, row)) };
    });
  }
  const frame = frameOf(doors.app, c, { title: `${heading} · Domain Records`, description: lede, path });
  const view = () => {
    const found = part();
    const { watched, paused } = records.counts();
    const rows = found.rows.map((row) => nameRow(list, row, watched + paused));
    return { frame, heading, lede, noun, nouns, ways: waysBeside(list), rows, end: endOf(doors, found, isWhole, path) };
  };
  const state = observationsState(records);
  return sendKeptPage(doors, c, '/records/names', { frame, view }, { kept, name: path, state });
}

function hostsAnswer(doors: RecordsDoors, c: RecordsContext, kept: ResponseCache, list: FacetList) {
  const { records } = doors.app.store;
  const named = c.req.param('name') ?? '';
  const name = list.kind === 'service' ? `${c.req.param('kind')}:${named}` : named;
  const facet = { kind: list.kind, name };
  const total = records.facetCount(facet);
  const path = nameRow(list, { name, count: 0 }, 0).url;
  if (total === 0)
    throw new Fault(
      'not_found',
      `no watched hostname has the ${list.noun.toLowerCase()} ${JSON.stringify(named)}; GET ${list.path} lists those that are seen`,
    );
  const { limit, cursor, isWhole } = partWanted(c);
  const part = (): ListPart<ReturnType<typeof hostRow>> => {
    const [after = ''] = readCursor(HostPlace, cursor);
    const { rows, next } = pageOf(records.hostsWithFacet(facet, after, limit + 1), limit, (last) => cursorOf([last]));
    return {
      rows: rows
        .map((hostname) => records.find(hostname))
        .filter((host) => host !== null)
        .map(hostRow),
      total,
      next,
    };
  };
  if (!wantsPage(c)) {
    return sendListJson(doors, c, { kept, name: path }, () => {
      const { rows, ...rest } = part();
      return { ...rest, rows: rows.map(({ url: _, ...row }) => row) };
    });
  }
  const heading = list.having(name);
  const lede = `${total.toLocaleString('en')} of the watched hostnames, by what their newest records say.`;
  const frame = frameOf(doors.app, c, { title: `${heading} · Domain Records`, description: lede, path });
  const view = () => {
    const found = part();
    const ways = [{ url: list.path, text: `All ${list.nouns}` }];
    return { frame, heading, lede, ways, rows: found.rows, end: endOf(doors, found, isWhole, path), at_least: false };
  };
  const state = observationsState(records);
  return sendKeptPage(doors, c, '/records/hosts', { frame, view }, { kept, name: path, state });
}

/** A name as JSON has it, in the words of `/v1/services` and `/v1/issuers`. */
function jsonRow({ kind }: FacetList, { name, count }: { name: string; count: number }): object {
  if (kind === 'service') return { ...serviceOf(name), count };
  return kind === 'issuer' ? { issuer: name, count } : { name, count };
}

/** The ways to the other lists. */
export function waysBeside(list?: FacetList): { url: string; text: string }[] {
  const all = [
    { url: '/domains', text: 'Catalog' },
    ...FACET_LISTS.map(({ path: url, heading: text }) => ({ url, text })),
  ];
  return all.filter(({ url }) => url !== (list?.path ?? '/domains'));
}
