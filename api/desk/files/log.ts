import { join } from 'node:path';
import type { AppContext } from '../../../src/app/context.ts';
import { isLogPath } from '../../../src/transparency/log-paths.ts';
import type { Site } from '../../env.ts';
import { sendLogFile } from '../../responses/log-file.ts';
import type { HostHandler } from '../route.ts';
import type { Sites } from '../site.ts';

/** An address of the log. */
interface LogAddress {
  /** The path below the log's address, empty for the page; null for the page without its slash. */
  path: string | null;
  /** Whether it is below the root of a paper with an address of its own. */
  isOwn: boolean;
}

/**
 * Serves the files of the log. Other addresses below `/log/` are left to the pressed files: they are those of a paper
 * that was called `log` before this name was reserved.
 */
export function logFile({ settings }: AppContext, sites: Sites): HostHandler {
  return async (c, next) => {
    const path = logAddress(sites, c.env, settings.origin)?.path ?? '';
    if (!isLogPath(path)) return next();
    return sendLogFile(c, { folder: join(settings.logDir, 'desk'), path, root: settings.origin });
  };
}

/**
 * Finds the address of a request in the log of the news desk, which is at the root of the shared host and below the
 * root of each paper with an address of its own; null for any other address.
 */
export function logAddress(sites: Sites, env: Parameters<Sites['of']>[0], origin: string): LogAddress | null {
  const site = sites.of(env);
  if (site === null) return null;
  const isOwn = isOwnAddress(site, origin);
  const asked = isOwn ? site.path : `/${site.slug}${site.path}`;
  const [all, path] = /^\/log(?:\/(.*))?$/.exec(asked) ?? [];
  return all === undefined ? null : { path: path ?? null, isOwn };
}

/**
 * Whether a paper is served at the `url` in its record, where its pages expect the log. A private paper on the shared
 * host must look like one that does not exist.
 */
function isOwnAddress({ slug, paper, root, served }: Site, origin: string): boolean {
  if (paper?.url === undefined || root !== served) return false;
  return paper.paper_public || served !== `${origin}/${slug}`;
}
