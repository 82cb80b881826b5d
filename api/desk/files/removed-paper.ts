import type { MiddlewareHandler } from 'hono';
import { Fault } from '../../../src/fault.ts';
import { isoTime } from '../../../src/time.ts';
import type { DeskEnv } from '../../env.ts';
import { fileHeaders } from '../../responses/files.ts';
import { respond } from '../../responses/headers.ts';
import { PUBLIC } from '../../responses/send.ts';
import { wantsRecord } from '../../responses/wants-record.ts';
import type { Sites } from '../site.ts';

const PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><meta name="robots" content="noindex"><title>Gone</title></head>
<body><h1>Gone</h1><p>The paper that was at this address was removed. Its receipts stay in the <a href="/log/">transparency log</a>.</p></body>
</html>
`;

/** Answers every address of a removed paper with 410: a page for browsers, JSON for programs. */
export function removedPaper(sites: Sites, origin: string): MiddlewareHandler<DeskEnv> {
  const page = PAGE.replace('"/log/"', `"${origin}/log/"`);
  return async (c, next) => {
    const site = sites.of(c.env);
    if (site?.removed_at === undefined) return next();
    const at = isoTime(site.removed_at);
    if (/^\/api(\/|$)/.test(site.path) || wantsRecord(c)) {
      const message = `the paper ${site.slug} was removed on ${at.slice(0, 10)}; its receipts stay in the transparency log`;
      throw new Fault('withdrawn', message, { withdrawn_at: at });
    }
    const headers = { ...fileHeaders('/404.html', origin, []), 'Cache-Control': PUBLIC, Vary: 'Accept' };
    return respond(c, page, 410, { ...headers, 'Content-Type': 'text/html; charset=UTF-8' });
  };
}
