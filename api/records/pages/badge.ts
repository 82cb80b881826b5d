import { Fault } from '../../../src/fault.ts';
import { badgeOf, plainBadge } from '../../../src/records/badge.ts';
import { parseHostname } from '../../../src/records/hostname.ts';
import { requireHost } from '../../../src/records/require-host.ts';
import { setHeader } from '../../responses/headers.ts';
import { representationOf } from '../../responses/response-cache.ts';
import { sendMade } from '../public-answer.ts';
import type { RecordsContext, RecordsDoors } from '../route.ts';
import { openPage } from './page.ts';

/** An SVG opened by itself is a document: in a sandbox it runs nothing. Its link still leads on. */
const GUARD = {
  'Content-Type': 'image/svg+xml; charset=utf-8',
  'Content-Security-Policy':
    "default-src 'none'; sandbox allow-top-navigation-by-user-activation allow-popups; frame-ancestors *",
  'Cross-Origin-Resource-Policy': 'cross-origin',
};

/** Pages keep a badge for five minutes; an opt-out takes it away at once where nobody keeps it. */
const CACHE = { 'Cache-Control': 'public, max-age=300, s-maxage=60, stale-while-revalidate=300' };

/**
 * The badge of a domain's newest observation. Its receipt is inside, and the `Link`
 * header leads to all that is shown of the observation, and to the keys. What is
 * refused is a grey badge that says why, under its own status.
 */
export function badgeDoor(doors: RecordsDoors): void {
  const { store, settings } = doors.app;
  const root = settings.dataOrigin;
  openPage(doors, '/badge/:file{.+[.][sS][vV][gG]}', (c) => {
    const text = (c.req.param('file') ?? '').slice(0, -4);
    try {
      const host = requireHost(store.records, text);
      const page = `${root}/t/${host.hostname}`;
      const observation = store.records.observation(host.id);
      const links = [`<${page}>; rel="describedby"`, `<${root}/.well-known/records-keys.json>; rel="related"`];
      const svg = observation === null ? plainBadge(host.unicode, 'not observed yet') : badgeOf(observation, page);
      return sendMade(c, representationOf(svg), { ...GUARD, ...CACHE, Link: links.join(', ') });
    } catch (error) {
      if (error instanceof Fault) return refusal(c, error, text);
      throw error;
    }
  });
}

/** What opted out and what was never watched look the same. */
function refusal(c: RecordsContext, { code }: Fault, text: string): Response {
  setHeader(c, 'X-Content-Type-Options', 'nosniff');
  const headers = { ...GUARD, 'Cache-Control': 'no-store' };
  if (code === 'invalid_request') return c.body(plainBadge('badge', 'not a hostname'), 400, headers);
  return c.body(plainBadge(parseHostname(text).unicode, 'not watched'), 404, headers);
}
