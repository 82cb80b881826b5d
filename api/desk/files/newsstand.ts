import { join } from 'node:path';
import type { Context } from 'hono';
import type { PressQueue } from '../../../src/desk/jobs/press-queue.ts';
import { paperRoot } from '../../../src/desk/papers/paper.ts';
import type { Build } from '../../../src/desk/press/build.ts';
import { OPEN_HEADERS } from '../../../src/desk/press/feeds/headers.ts';
import { newsstandView, opml, publicPapers } from '../../../src/desk/press/newsstand.ts';
import { skillIndex } from '../../../src/desk/press/standards-text.ts';
import { healthOf, readiness } from '../../../src/operate/metrics/readiness.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { isLogPath } from '../../../src/shared/transparency/log-paths.ts';
import { logViewState } from '../../../src/shared/transparency/log-view.ts';
import { ownPolicy } from '../../../src/signing/log/log-publication.ts';
import { deskLogView } from '../../../src/signing/log/log-view.ts';
import type { Site } from '../../env.ts';
import { CATALOG_PATH, CATALOG_TYPE, catalogLinks, catalogOf } from '../../openapi/api-catalog.ts';
import { fileHeaders } from '../../responses/files.ts';
import { sendLogFile } from '../../responses/log-file.ts';
import { sendReadiness } from '../../responses/readiness.ts';
import { ResponseCache, representationOf } from '../../responses/response-cache.ts';
import { privateJson, sendShared } from '../../responses/send.ts';
import { sendFile } from '../../responses/send-file.ts';
import { paperApi } from '../reading/api-index.ts';
import type { HostHandler } from '../route.ts';
import type { Sites } from '../site.ts';
import { beingPressed } from './notices.ts';

/** The root of the shared host: the list of public papers, and the files that its page needs. */
export function newsstandHandlers(
  app: AppContext,
  build: Build,
  { presses, backlog }: { presses: PressQueue; backlog: ReadonlySet<string> },
) {
  const { origin } = app.settings;
  const headers = fileHeaders('/404.html', origin, []);
  const send = (c: Context, text: string, own: Record<string, string>) =>
    sendShared(c, representationOf(text), { ...headers, ...own });
  return {
    newsstand: async (c) => {
      const isEmpty = backlog.size === 0;
      // On a first start no paper is on disk yet. While papers are still being filed, the list must not be cached.
      if (!isEmpty && !publicPapers(app.store.desk).some(({ slug }) => presses.isShown(slug))) return beingPressed(c);
      const page = await build.render('/newsstand', newsstandView(app.store.desk, origin));
      const own = { 'Content-Type': 'text/html; charset=UTF-8', Link: catalogLinks(origin, []) };
      return send(c, page, { ...own, ...(isEmpty ? {} : { 'Cache-Control': 'no-store' }) });
    },
    hostCatalog: (c) => {
      const papers = publicPapers(app.store.desk).map((paper) =>
        paperApi({ root: paperRoot(paper, origin), nameplate: paper.nameplate }),
      );
      const own = { 'Content-Type': CATALOG_TYPE, Link: catalogLinks(origin, []) };
      return send(c, JSON.stringify(catalogOf(origin, papers)), { ...fileHeaders(CATALOG_PATH, origin, []), ...own });
    },
    hostSkills: (c) => {
      const papers = publicPapers(app.store.desk).map((paper) => ({ paper, root: paperRoot(paper, origin) }));
      const own = { 'Content-Type': 'application/json; charset=UTF-8', ...OPEN_HEADERS };
      return send(c, skillIndex(papers), own);
    },
    // For monitors, like the endpoint of the domain records.
    health: async (c) => {
      const body = { status: 'ok', ...(await healthOf(app, 'desk')) };
      return privateJson(c, body, 200, { 'Cache-Control': 'no-store' });
    },
    ready: (c) => sendReadiness(c, readiness(app)),
    opml: (c) => {
      const own = { 'Content-Type': 'text/x-opml; charset=UTF-8', ...OPEN_HEADERS };
      return send(c, opml(app.store.desk, origin), own);
    },
    robots: (c) => send(c, robotsOf(app), { 'Content-Type': 'text/plain; charset=UTF-8' }),
    asset: async (c, next) => {
      const content = build.asset(c.req.path.slice(1));
      if (content === null) return next();
      const headers = fileHeaders(c.req.path, origin, []);
      return sendFile(c, { file: c.req.path, content, status: 200, headers });
    },
  } satisfies Record<string, HostHandler>;
}

/** Crawlers read robots.txt only at a host's root, so this one lists the sitemaps of all papers. */
function robotsOf(app: AppContext): string {
  const roots = publicPapers(app.store.desk).map((paper) => paperRoot(paper, app.settings.origin));
  const sitemaps = roots.flatMap((root) => [`Sitemap: ${root}/sitemap.xml`, `Sitemap: ${root}/sitemap-news.xml`]);
  return ['User-agent: *', 'Allow: /', '', ...sitemaps, ''].join('\n');
}

/**
 * Serves the log's files. A paper that was named `log` before the name was reserved has no files at these addresses.
 */
export function logFile({ settings }: AppContext, sites: Sites): HostHandler {
  return async (c, next) => {
    const path = logAddress(sites, c.env, settings.origin)?.path ?? '';
    if (!isLogPath(path)) return next();
    return sendLogFile(c, { folder: join(settings.logDir, 'desk'), path, root: settings.origin });
  };
}

/**
 * The part of a request's address below the log's, which exists also under each paper's own address; null for any other
 * address. `path` is empty for the log's page, and null for the page without its slash.
 */
function logAddress(sites: Sites, env: Parameters<Sites['of']>[0], origin: string) {
  const site = sites.of(env);
  if (site === null) return null;
  const isOwn = isOwnAddress(site, origin);
  const asked = isOwn ? site.path : `/${site.slug}${site.path}`;
  const [all, path] = /^\/log(?:\/(.*))?$/.exec(asked) ?? [];
  return all === undefined ? null : { path: path ?? null, isOwn };
}

/** Whether a paper is served at its `url`. On the shared host, a private paper must look like a missing one. */
function isOwnAddress({ slug, paper, root, served }: Site, origin: string): boolean {
  if (paper?.url === undefined || root !== served) return false;
  return paper.paper_public || served !== `${origin}/${slug}`;
}

/** The log's page for people. Below a paper's own address it redirects to the shared host. */
export function logPage(app: AppContext, sites: Sites, render: Build['render']): HostHandler {
  const { store, settings } = app;
  const { origin } = settings;
  const cache = new ResponseCache();
  const url_absolute = `${origin}/log/`;
  const headers = { ...fileHeaders('/404.html', origin, []), 'Content-Type': 'text/html; charset=UTF-8' };
  return async (c, next) => {
    const found = logAddress(sites, c.env, origin);
    if (found === null || (found.path ?? '') !== '') return next();
    if (found.isOwn) return c.redirect(url_absolute, 302);
    if (found.path === null) return c.redirect('/log/', 301);
    // Read each time, because a reload may change it.
    const policy = ownPolicy(app.settings);
    const state = `${logViewState(store.database.log, { log: 'desk', policy })} ${store.desk.papersVersion()}`;
    const view = () => deskLogView(app, { origin, policy });
    return sendShared(c, await cache.load('/log/', state, () => render('/log', view())), headers);
  };
}
