import { join } from 'node:path';
import type { Build } from '../../../src/desk/press/build.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { isLogPath } from '../../../src/shared/transparency/log-paths.ts';
import { logViewState } from '../../../src/shared/transparency/log-view.ts';
import { ownPolicy } from '../../../src/signing/log/log-publication.ts';
import { deskLogView } from '../../../src/signing/log/log-view.ts';
import type { Site } from '../../env.ts';
import { fileHeaders } from '../../responses/files.ts';
import { sendLogFile } from '../../responses/log-file.ts';
import { ResponseCache } from '../../responses/response-cache.ts';
import { sendShared } from '../../responses/send.ts';
import type { HostHandler } from '../route.ts';
import type { Sites } from '../site.ts';

/** Serves the log's files. A paper that was called `log` before the name was reserved has other addresses there. */
export function logFile({ settings }: AppContext, sites: Sites): HostHandler {
  return async (c, next) => {
    const path = logAddress(sites, c.env, settings.origin)?.path ?? '';
    if (!isLogPath(path)) return next();
    return sendLogFile(c, { folder: join(settings.logDir, 'desk'), path, root: settings.origin });
  };
}

/**
 * The address of a request in the log, which each paper with an address of its own has too; null for any other. `path`
 * is below the log's address: empty for the page, null for the page without its slash.
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
    // A reload may bring another one.
    const policy = ownPolicy(app.settings);
    const state = `${logViewState(store.database.log, { log: 'desk', policy })} ${store.desk.papersVersion()}`;
    const view = () => deskLogView(app, { origin, policy });
    return sendShared(c, await cache.load('/log/', state, () => render('/log', view())), headers);
  };
}
