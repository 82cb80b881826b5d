import type { HostRow, ListEnd } from '../../../src/records/reading-views.ts';
import type { WatchedHost } from '../../../src/store/records-hostnames.ts';
import { isoOrNull } from '../../../src/time.ts';
import { signedIn } from '../../middleware/session.ts';
import { ResponseCache } from '../../responses/response-cache.ts';
import { privateJson } from '../../responses/send.ts';
import { JSON_BESIDE_PAGE, sendMade } from '../public-answer.ts';
import { observationsState } from '../public-state.ts';
import type { RecordsContext, RecordsDoors } from '../route.ts';

/** Of every list, anybody sees so many (spec, "Public web surface"). */
export const OPEN_ROWS = 3;
/** Rows of a page for who is signed in. */
const PAGE_ROWS = 100;

/** A part of a list: its rows, how many the whole has, and where it goes on. */
export interface ListPart<Row> {
  rows: Row[];
  total: number;
  next: string | null;
}

/** Which part of a list a reader gets: the first three, or for who is signed in a page from a cursor on. */
export function partWanted(c: RecordsContext): { limit: number; cursor: string | undefined; isWhole: boolean } {
  const isWhole = signedIn(c) !== null;
  return { limit: isWhole ? PAGE_ROWS : OPEN_ROWS, cursor: isWhole ? c.req.query('cursor') : undefined, isWhole };
}

/** Where a list ends for a reader. `path` is the list's own address; null for one that has no pages. */
export function endOf(
  { app }: Pick<RecordsDoors, 'app'>,
  { rows, total, next }: ListPart<unknown>,
  isWhole: boolean,
  path: string | null,
): ListEnd {
  return {
    total,
    held_back: isWhole ? 0 : total - rows.length,
    sign_in_url: signInUrl(app),
    next_url:
      isWhole && next !== null && path !== null
        ? `${path}${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(next)}`
        : null,
  };
}

export function signInUrl({ settings }: RecordsDoors['app']): string {
  return `${settings.dataOrigin}/account`;
}

/** Keeps the answers of the public lists as long as nothing is looked at, watched or hidden. */
export const keptLists = (): ResponseCache => new ResponseCache();

/**
 * Sends a list as JSON: to everybody its first three with the live total, to who
 * is signed in a page of it. `name` tells one list from another.
 */
export async function sendListJson<Row extends object>(
  { app }: Pick<RecordsDoors, 'app'>,
  c: RecordsContext,
  { kept, name }: { kept: ResponseCache; name: string },
  part: () => ListPart<Row>,
): Promise<Response> {
  if (signedIn(c) !== null) {
    const { rows: items, total, next: next_cursor } = part();
    return privateJson(c, { items, total, next_cursor });
  }
  const made = await kept.load(`json ${name}`, observationsState(app.store.records), () => {
    const { rows: items, total } = part();
    return JSON.stringify({ items, total, held_back: total - items.length, sign_in_url: signInUrl(app) });
  });
  return sendMade(c, made, JSON_BESIDE_PAGE);
}

/** A hostname as lists show it. */
export function hostRow({ hostname, unicode, state, looked_at, seq }: WatchedHost): HostRow {
  return {
    domain: hostname,
    unicode,
    url: `/t/${hostname}`,
    state,
    observed_at: isoOrNull(looked_at),
    seq,
  };
}
