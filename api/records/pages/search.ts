import type { Found } from '../../../src/records/search.ts';
import { findEverywhere } from '../../../src/records/search.ts';
import { dayOf, isoTime, parseSpan } from '../../../src/time.ts';
import { setHeader } from '../../responses/headers.ts';
import { privateJson } from '../../responses/send.ts';
import type { RecordsContext, RecordsDoors } from '../route.ts';
import { COUNTED } from './domains.ts';
import { frameOf } from './frame.ts';
import { OPEN_ROWS, partWanted, signInUrl } from './list.ts';
import { openPage, sendPage, wantsPage } from './page.ts';
import type { Asked } from './search-groups.ts';
import { groupsOf } from './search-groups.ts';

/** Of a question, in characters: the longest name. */
const LONGEST = 253;

/** One search over everything; a receipt's number or hash and a date are gone to at once. */
export function searchPage(doors: RecordsDoors): void {
  const { records } = doors.app.store;
  openPage(doors, '/search', (c) => {
    const q = (c.req.query('q') ?? '').trim().slice(0, LONGEST);
    const place = q === '' ? null : placeNamed(doors, q);
    if (place !== null) {
      setHeader(c, 'Cache-Control', 'no-store');
      return c.redirect(place, 303);
    }
    const isQuestion = /[\p{L}\p{N}]/u.test(q);
    const found = isQuestion ? findEverywhere(records, q) : [];
    const total = isQuestion ? records.searchCount(q, COUNTED) : 0;
    const asked = { q, total, isWhole: partWanted(c).isWhole, sign_in_url: signInUrl(doors.app) };
    if (!wantsPage(c)) return searchJson(c, found, asked);
    const frame = frameOf(doors.app, c, {
      title: q === '' ? 'Search · Domain Records' : `${q} · Domain Records`,
      description: 'Finds watched hostnames, values in their records, services, issuers, receipts and days.',
      path: '/search',
      noindex: q !== '',
    });
    const refusal = q !== '' && !isQuestion ? 'There must be a letter or a digit in it.' : null;
    const view = { frame, q, found: q === '' ? null : groupsOf(found, asked), refusal };
    // An answer to words that a reader typed is in nobody's cache.
    return sendPage(doors, c, '/records/search', view, q === '' ? {} : { maxAge: 0 });
  });
}

/** The address that words name by themselves: a day, or an observation by its number or hash; null for none. */
function placeNamed({ app }: RecordsDoors, q: string): string | null {
  const { records } = app.store;
  if (parseSpan(q) !== null && q.length === 10 && q <= dayOf(app.now())) return `/changes/${q}`;
  const [, number] = /^(?:seq\s*|no\.?\s*|#\s*)(\d{1,15})$/i.exec(q) ?? [];
  const [, hash] = /^(?:sha256:)?([0-9a-f]{64})$/i.exec(q) ?? [];
  const byNumber = number === undefined ? null : records.observationPlace(Number(number));
  const at = hash === undefined ? byNumber : records.receiptPlace(`sha256:${hash.toLowerCase()}`);
  return at === null ? null : `/t/${at.hostname}?as_of=${encodeURIComponent(isoTime(at.observed_at))}`;
}

/** The same as JSON: three of all to everybody, with how many there are. */
function searchJson(c: RecordsContext, found: Found[], { q, total: hosts, isWhole, sign_in_url }: Asked): Response {
  const total = hosts + found.filter(({ kind }) => kind !== 'domain').length;
  setHeader(c, 'Vary', 'Accept, Cookie');
  setHeader(c, 'Access-Control-Allow-Origin', '*');
  if (isWhole) return privateJson(c, { q, items: found, total, next_cursor: null });
  const items = found.slice(0, OPEN_ROWS);
  return privateJson(c, { q, items, total, held_back: total - items.length, sign_in_url });
}
