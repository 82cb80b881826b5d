import type { MiddlewareHandler } from 'hono';
import { paperRemoved } from '../../../src/desk/withdrawal.ts';
import { fill } from '../../../src/phrases/fill.ts';
import { phrasesOf, tagOf } from '../../../src/phrases/tables.ts';
import type { DeskEnv } from '../../env.ts';
import { fileHeaders } from '../../responses/files.ts';
import { respond } from '../../responses/headers.ts';
import { PUBLIC } from '../../responses/send.ts';
import { wantsRecord } from '../../responses/wants-record.ts';
import type { Sites } from '../site.ts';

/** The page that stands at every address of a removed paper, in its language. `log` is the address of the log. */
export function removedPage(language: string, log: string): string {
  const { title, about, log: name } = phrasesOf(language).removed;
  const text = fill(about, { log: `<a href="${log}">${name}</a>` });
  return `<!doctype html>
<html lang="${tagOf(language)}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><meta name="robots" content="noindex"><title>${title}</title></head>
<body dir="auto"><h1>${title}</h1><p>${text}</p></body>
</html>
`;
}

/** Answers every address of a removed paper with 410: a page for browsers, JSON for programs. */
export function removedPaper(sites: Sites, origin: string): MiddlewareHandler<DeskEnv> {
  return async (c, next) => {
    const site = sites.of(c.env);
    if (site?.removed === undefined) return next();
    if (/^\/api(\/|$)/.test(site.path) || wantsRecord(c)) throw paperRemoved(site.slug, site.removed.at);
    const headers = { ...fileHeaders('/404.html', origin, []), 'Cache-Control': PUBLIC, Vary: 'Accept' };
    return respond(c, removedPage(site.removed.language, `${origin}/log/`), 410, {
      ...headers,
      'Content-Type': 'text/html; charset=UTF-8',
    });
  };
}
