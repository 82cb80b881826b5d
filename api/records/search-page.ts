import { domainToUnicode } from 'node:url';
import type { FoundGroup } from '../../src/records/reading-views.ts';
import { findEverywhere } from '../../src/records/search.ts';
import { spanOf } from '../../src/records/span.ts';
import { privateJson } from '../desk/shelf.ts';
import { signalLabel } from './change-view.ts';
import { dayOf } from './day.ts';
import type { RecordsContext, RecordsDoors } from './doors.ts';
import { FACET_LISTS, nameRow } from './facet-lists.ts';
import { frameOf } from './frame.ts';
import { OPEN_ROWS, partWanted, signInUrl } from './list-page.ts';
import { openPage, sendPage, wantsPage } from './page.ts';

/** Of a question, in characters: the longest name. */
const LONGEST = 253;
/** Hostnames that fit are counted no further. */
const COUNTED = 10_000;

type Found = ReturnType<typeof findEverywhere>[number];

/** One search over everything; a receipt's number or hash and a date are gone to at once. */
export function searchPage(doors: RecordsDoors): void {
  const { store, settings } = doors.shop;
  const { records } = store;
  openPage(doors, '/search', (c) => {
    const q = (c.req.query('q') ?? '').trim().slice(0, LONGEST);
    const place = q === '' ? null : placeNamed(doors, q);
    if (place !== null) {
      c.header('Cache-Control', 'no-store');
      return c.redirect(place, 303);
    }
    const { isWhole } = partWanted(c);
    const isQuestion = /[\p{L}\p{N}]/u.test(q);
    const found = isQuestion ? findEverywhere(records, q) : [];
    const total = isQuestion ? records.searchCount(q, COUNTED) : 0;
    if (!wantsPage(c)) return searchJson(doors, c, { q, found, total });
    const title = q === '' ? 'Search · Domain Records' : `${q} · Domain Records`;
    const frame = frameOf(doors.shop, c, {
      title,
      description: 'Finds watched hostnames, values in their records, services, issuers, receipts and days.',
      path: '/search',
      noindex: q !== '',
    });
    const groups = groupsOf(found, { total, isWhole, sign_in_url: signInUrl({ ...doors.shop, settings }) });
    const refusal = q !== '' && !isQuestion ? 'There must be a letter or a digit in it.' : null;
    // An answer to words that a reader typed is in nobody's cache.
    return sendPage(
      doors,
      c,
      '/records/search',
      { frame, q, found: q === '' ? null : groups, refusal },
      { maxAge: q === '' ? 30 : 0 },
    );
  });
}

/** The address that words name by themselves: a day, an observation's number or hash, a watched hostname; null for none. */
function placeNamed({ shop }: RecordsDoors, q: string): string | null {
  const { records } = shop.store;
  if (spanOf(q) !== null && q.length === 10 && q <= dayOf(shop.now())) return `/changes/${q}`;
  const [, number] = /^(?:seq\s*|no\.?\s*|#\s*)(\d{1,15})$/i.exec(q) ?? [];
  const [, hash] = /^(?:sha256:)?([0-9a-f]{64})$/i.exec(q) ?? [];
  const at =
    number !== undefined
      ? records.observationPlace(Number(number))
      : hash !== undefined
        ? records.receiptPlace(`sha256:${hash.toLowerCase()}`)
        : null;
  return at === null ? null : `/t/${at.hostname}?as_of=${encodeURIComponent(new Date(at.observed_at).toISOString())}`;
}

function groupsOf(
  found: Found[],
  { total, isWhole, sign_in_url }: { total: number; isWhole: boolean; sign_in_url: string },
): FoundGroup[] {
  const group = (heading: string, rows: FoundGroup['rows'], all = rows.length): FoundGroup[] => {
    if (rows.length === 0) return [];
    const shown = isWhole ? rows : rows.slice(0, OPEN_ROWS);
    const held_back = isWhole ? 0 : all - shown.length;
    return [
      { heading, rows: shown, end: { total: all, held_back, sign_in_url, next_url: null }, at_least: all >= COUNTED },
    ];
  };
  const of = <K extends Found['kind']>(kind: K) =>
    found.filter((one): one is Extract<Found, { kind: K }> => one.kind === kind);
  return [
    ...group(
      'Hostnames',
      of('domain').map(({ domain, unicode, observed_at }) => ({
        text: unicode,
        detail: [
          unicode === domain ? '' : domain,
          observed_at === null ? 'not observed yet' : `observed ${observed_at.slice(0, 10)}`,
        ]
          .filter(Boolean)
          .join(' · '),
        url: `/t/${domain}`,
      })),
      total,
    ),
    ...group(
      'Hostnames with that value',
      of('value').map(({ domain, signal, first_seen, last_seen }) => ({
        text: domainToUnicode(domain),
        detail: `${signalLabel(signal)}, seen from ${String(first_seen).slice(0, 10)} to ${String(last_seen).slice(0, 10)}`,
        url: `/t/${domain}`,
      })),
    ),
    ...FACET_LISTS.flatMap((list) =>
      list.kind === 'type'
        ? []
        : group(
            list.heading,
            found
              .filter((one) => one.kind === list.kind && 'name' in one)
              .map((one) => nameRow(list, one as { name: string; count: number }, 0))
              .map(({ name, kind, count, url }) => ({
                text: name,
                detail: `${kind === null ? '' : `${kind} · `}${count.toLocaleString('en')} ${count === 1 ? 'hostname' : 'hostnames'}`,
                url,
              })),
          ),
    ),
  ];
}

/** The same as JSON: three of all to everybody, with how many there are. */
function searchJson(
  { shop }: RecordsDoors,
  c: RecordsContext,
  { q, found, total }: { q: string; found: Found[]; total: number },
): Response {
  const all = total + found.filter(({ kind }) => kind !== 'domain').length;
  const { isWhole } = partWanted(c);
  c.header('Vary', 'Accept, Cookie');
  c.header('Access-Control-Allow-Origin', '*');
  if (isWhole) return privateJson(c, { q, items: found, total: all, next_cursor: null });
  const items = found.slice(0, OPEN_ROWS);
  return privateJson(c, { q, items, total: all, held_back: all - items.length, sign_in_url: signInUrl(shop) });
}
