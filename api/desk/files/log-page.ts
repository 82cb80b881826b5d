import type { Build } from '../../../src/app/build.ts';
import type { AppContext } from '../../../src/app/context.ts';
import { ownPolicy } from '../../../src/app/log-publication.ts';
import { deskLogView } from '../../../src/app/log-view.ts';
import { logViewState } from '../../../src/transparency/log-view.ts';
import { fileHeaders } from '../../responses/files.ts';
import { ResponseCache } from '../../responses/response-cache.ts';
import { sendShared } from '../../responses/send.ts';
import type { HostHandler } from '../route.ts';
import type { Sites } from '../site.ts';
import { logAddress } from './log.ts';

/**
 * The page on which people read the log, rendered from the database. Below the root of a paper with an address of
 * its own it redirects to the shared host.
 */
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
    const state = `${logViewState(store.log, { log: 'desk', policy })} ${store.papersVersion()}`;
    const view = () => deskLogView(app, { origin, policy });
    return sendShared(c, await cache.load('/log/', state, () => render('/log', view())), headers);
  };
}
