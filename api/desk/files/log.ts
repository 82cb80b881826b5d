import { join } from 'node:path';
import type { AppContext } from '../../../src/app/context.ts';
import { isLogPath } from '../../../src/transparency/log-paths.ts';
import { sendLogFile } from '../../responses/log-file.ts';
import type { HostHandler } from '../host-router.ts';
import type { Sites } from '../site.ts';

/** The transparency log of the news desk: on the shared host, and below the root of each paper's own address. */
const LOG = /^\/log(?:\/(?<path>.*))?$/;

/**
 * Serves the files of the log. Other addresses below `/log/` are left to the pressed files: they are those of a paper
 * that was called `log` before this name was reserved.
 */
export function logFile({ settings }: AppContext, sites: Sites): HostHandler {
  return async (c, next) => {
    const path = logPath(sites, c.env, settings.origin);
    if (path === null || !isLogPath(path)) return next();
    return sendLogFile(c, { folder: join(settings.logDir, 'desk'), path, root: settings.origin });
  };
}

/** The path below the log's address, empty for the page; null for an address outside of it. */
export function logPath(sites: Sites, env: Parameters<Sites['of']>[0], origin: string): string | null {
  const site = sites.of(env);
  if (site === null) return null;
  const isShared = site.served === `${origin}/${site.slug}`;
  const asked = isShared ? `/${site.slug}${site.path}` : site.path;
  const match = LOG.exec(asked);
  return match === null ? null : (match.groups?.path ?? '');
}
