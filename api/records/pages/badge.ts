import { badgeOf, plainBadge } from '../../../src/proof/records/badge.ts';
import { parseHostname } from '../../../src/records/hostname.ts';
import { requireHost } from '../../../src/records/require-host.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Fault } from '../../../src/shared/fault.ts';
import { setHeader } from '../../responses/headers.ts';
import { representationOf } from '../../responses/response-cache.ts';
import type { RecordsContext } from '../route.ts';
import { sendPublic } from '../send.ts';

/** An SVG that is opened by itself is a document. The sandbox keeps it from running anything; its link still works. */
const GUARD = {
  'Content-Type': 'image/svg+xml; charset=utf-8',
  'Content-Security-Policy':
    "default-src 'none'; sandbox allow-top-navigation-by-user-activation allow-popups; frame-ancestors *",
  'Cross-Origin-Resource-Policy': 'cross-origin',
};

/** Browsers may keep a badge for five minutes; that bounds how long one survives an opt-out. */
const CACHE = { 'Cache-Control': 'public, max-age=300, s-maxage=60, stale-while-revalidate=300' };

/**
 * The badge of the latest observation, with its receipt. `Link` leads to the observation and the keys. Errors are grey
 * badges.
 */
export const badge =
  ({ store: { records }, settings: { dataOrigin: root } }: AppContext) =>
  (c: RecordsContext) => {
    const text = (c.req.param('file') ?? '').slice(0, -'.svg'.length);
    try {
      const host = requireHost(records, text);
      const page = `${root}/t/${host.hostname}`;
      const observation = records.observation(host.id);
      const link = `<${page}>; rel="describedby", <${root}/.well-known/records-keys.json>; rel="related"`;
      const svg = observation === null ? plainBadge(host.unicode, 'not observed yet') : badgeOf(observation, page);
      return sendPublic(c, representationOf({ text: svg, link }), { ...GUARD, ...CACHE });
    } catch (error) {
      if (error instanceof Fault) return errorBadge(c, error, text);
      throw error;
    }
  };

/** Opted-out and unwatched hostnames look the same. */
function errorBadge(c: RecordsContext, { code }: Fault, text: string): Response {
  setHeader(c, 'X-Content-Type-Options', 'nosniff');
  const headers = { ...GUARD, 'Cache-Control': 'no-store' };
  if (code === 'invalid_request') return c.body(plainBadge('badge', 'not a hostname'), 400, headers);
  return c.body(plainBadge(parseHostname(text).unicode, 'not watched'), 404, headers);
}
