import { createHash } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { accepts } from 'hono/accepts';
import { securityHeaders } from '../../../src/desk/press/feeds/headers.ts';
import { paperRemoved } from '../../../src/desk/withdrawal.ts';
import { fill } from '../../../src/phrases/fill.ts';
import { phrasesOf, tagOf } from '../../../src/phrases/tables.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Busy, Fault } from '../../../src/shared/fault.ts';
import { isLogPath } from '../../../src/shared/transparency/log-paths.ts';
import type { DeskEnv } from '../../env.ts';
import { preflightOf } from '../../middleware/cors.ts';
import { fileHeaders } from '../../responses/files.ts';
import { respond, setHeader } from '../../responses/headers.ts';
import { PUBLIC, wantsRecord } from '../../responses/send.ts';
import type { Sites } from '../site.ts';

/** The methods that static files support. */
const FILE_METHODS = 'GET, HEAD, OPTIONS';

const PREFLIGHT = preflightOf({
  methods: 'GET, HEAD',
  sends: 'Authorization, X-NRF-Key, If-None-Match, If-Modified-Since, Range',
});

/** Answers OPTIONS by the address alone, so that existing and missing papers look the same. */
export function fileOptions(sites: Sites) {
  return (c: Context<DeskEnv>): Response => {
    const paths = [c.req.path, sites.of(c.env)?.path ?? ''];
    if (!paths.some(isOpen)) return c.body(null, 204, { Allow: FILE_METHODS });
    return c.body(null, 204, { ...PREFLIGHT, Allow: FILE_METHODS, 'Access-Control-Allow-Origin': '*' });
  };
}

function isOpen(path: string): boolean {
  if (path.startsWith('/log/') && isLogPath(path.slice('/log/'.length))) return true;
  return 'Access-Control-Allow-Origin' in securityHeaders(path, { root: '', embed_scripts: [] });
}

/** `Retry-After`, in seconds. */
const RETRY_AFTER = '2';

const STYLE =
  'body{font:1.1rem/1.6 Georgia,"Times New Roman",serif;max-width:34rem;margin:22vh auto 0;padding:0 1.5rem;text-align:center;text-wrap:balance}h1{font-size:1.8rem;font-weight:600;margin:0 0 .5em}';
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** A page that does not need the build. */
const pageOf = (language: string, head: string, body: string): string =>
  `<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><meta name="robots" content="noindex">${head}</head>
${body}
</html>
`;

const PRESSED_SOON = pageOf(
  'en',
  `<meta http-equiv="refresh" content="${RETRY_AFTER}"><title>Being pressed</title><style>${STYLE}</style>`,
  '<body><h1>Being pressed</h1><p>This page is being made. It appears here by itself in a few seconds.</p></body>',
);

const NOTHING_HERE = pageOf(
  'en',
  '<title>Nothing here</title>',
  '<body><h1>Nothing here</h1><p>There is nothing at this address. <a href="/">All papers are on the newsstand.</a></p></body>',
);

/** Answers for a page that is in the ledger but not on disk yet. Throws `unavailable` for callers that prefer JSON. */
export function beingPressed(c: Context): Response {
  if (wantsRecord(c)) throw new Busy('this page is being pressed; try again soon');
  return c.html(PRESSED_SOON, 503, {
    'Retry-After': RETRY_AFTER,
    'Cache-Control': 'no-store',
    'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'`,
    'X-Content-Type-Options': 'nosniff',
    Vary: 'Accept',
  });
}

/** Whether a path that is missing on disk belongs to a piece on air that is not pressed yet. */
export function isAwaitingPress({ store }: AppContext, paper: string, path: string): boolean {
  const name = /^\/(?:stories|embed)\/([a-z0-9-]+)(?:\/|\.md$|$)/.exec(path)?.[1];
  if (name === undefined || store.desk.manifest.newestStale(paper) === 0) return false;
  const archive = store.desk.archive(paper);
  const story = archive.storyBySlug(name) ?? archive.storyById(name);
  return story?.state === 'on_air';
}

/** Answers addresses without a route, and those of private papers: a page for browsers, JSON for programs. */
export function notFoundHandler(app: AppContext, backlog: ReadonlySet<string> = new Set()) {
  const { origin } = app.settings;
  return (c: Context): Response => {
    if (c.req.method !== 'GET' && c.req.method !== 'HEAD') {
      setHeader(c, 'Allow', FILE_METHODS);
      throw new Fault('method_not_allowed', `${c.req.method} is not allowed here; use ${FILE_METHODS}`);
    }
    const isApi = /^\/([^/]+\/)?api(\/|$)/.test(c.req.path);
    const supports = ['application/json', 'application/problem+json', 'text/html'];
    const type = accepts(c, { header: 'Accept', supports, default: 'application/json' });
    // Any address may belong to a paper that is not filed yet. Naming the paper would reveal private ones.
    const isComing = [...backlog].some((paper) => !app.store.desk.hasPaper(paper));
    if (!isApi && isComing) return beingPressed(c);
    if (isApi || type !== 'text/html') throw new Fault('not_found', 'there is nothing at this address');
    return c.html(NOTHING_HERE, 404, { ...fileHeaders('/404.html', origin, []), Vary: 'Accept' });
  };
}

/** The page at every address of a removed paper, in its language. `log` is the address of the log. */
export function removedPage(language: string, log: string): string {
  const { title, about } = phrasesOf(language).removed;
  const text = fill(about, { log: (words) => `<a href="${log}">${words}</a>` });
  return pageOf(tagOf(language), `<title>${title}</title>`, `<body dir="auto"><h1>${title}</h1><p>${text}</p></body>`);
}

/** Answers every address of a removed paper with 410: a page for browsers, JSON for programs. */
export function removedPaper(sites: Sites, origin: string): MiddlewareHandler<DeskEnv> {
  return async (c, next) => {
    const site = sites.of(c.env);
    if (site?.removed === undefined) return next();
    if (/^\/api(\/|$)/.test(site.path) || wantsRecord(c)) throw paperRemoved(site.slug, site.removed.at);
    return respond(c, removedPage(site.removed.language, `${origin}/log/`), 410, {
      ...fileHeaders('/404.html', origin, []),
      'Cache-Control': PUBLIC,
      Vary: 'Accept',
      'Content-Type': 'text/html; charset=UTF-8',
    });
  };
}
