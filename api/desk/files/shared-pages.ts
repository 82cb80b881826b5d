import { type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from 'hono';
import type { Build } from '../../../src/desk/press/build.ts';
import { Edition, siteAt } from '../../../src/desk/press/edition.ts';
import { memoized } from '../../../src/desk/press/memoized.ts';
import type { AppContext } from '../../../src/server/context.ts';
import type { DeskEnv, Site } from '../../env.ts';
import { fileHeaders } from '../../responses/files.ts';
import { respond } from '../../responses/headers.ts';
import { type Representation, ResponseCache } from '../../responses/response-cache.ts';
import { sendShared } from '../../responses/send.ts';
import { sendFile } from '../../responses/send-file.ts';
import { renderedFile } from './private-file.ts';

/** Larger pages are sent as they were pressed: printing one would hold up all other requests. In bytes. */
const PRINTED_MAX = 1_000_000;

/** A page of a pressed tree, and how to send it. */
interface PressedPage {
  folder: string;
  file: string;
  status: 200 | 404 | 410;
  /** Hashes of the inline scripts in the paper's embed cards. */
  scripts: string[];
}

/**
 * The pages of papers with an address of their own, as read on the shared host. In the pressed tree every link begins
 * at that address, so here the same pages are printed on request with links that stay on the shared host. Only what is
 * in the tree is printed, and all other files are the same for both.
 */
export function sharedPages(app: AppContext, build: Build) {
  const cache = new ResponseCache();

  /** The page with links below `site.served`; null when the paper no longer has it. */
  async function printed(site: Site, file: string, { size, mtimeMs }: Stats): Promise<Representation | null> {
    const archive = app.store.desk.archive(site.slug);
    // The file changes when the page does. Until the press has caught up, the page already shows the newest edition.
    const state = `${site.slug} ${archive.paper().edition} ${mtimeMs} ${size} ${site.root} ${site.served}`;
    const page = await cache.load(file, state, async () => {
      const edition = new Edition(memoized(archive), siteAt(site));
      return (await renderedFile(app, build, edition, file.slice(1)))?.toString() ?? '';
    });
    return page.bytes.length === 0 ? null : page;
  }

  return {
    /** Whether a file must be printed for this request. The links in embed cards are absolute. */
    prints: ({ root, served }: Site, file: string): boolean =>
      root !== served && file.endsWith('.html') && !file.startsWith('/embed/'),

    async send(c: Context<DeskEnv>, site: Site, { folder, file, status, scripts }: PressedPage): Promise<Response> {
      const headers = {
        ...fileHeaders(status === 404 ? file : site.path, site.served, scripts, site.paper?.analytics),
        ...(status === 404 ? { Vary: 'Accept' } : {}),
        // Search engines list the paper's own address, which is the canonical one.
        'X-Robots-Tag': 'noindex',
      };
      const path = join(folder, file);
      const stat = statSync(path, { throwIfNoEntry: false });
      const page = stat === undefined || stat.size > PRINTED_MAX ? null : await printed(site, file, stat);
      // A page that the paper no longer has stays as it was pressed until the press removes it.
      if (page === null) return sendFile(c, { file: path, status, headers });
      const type = { 'Content-Type': 'text/html; charset=utf-8' };
      if (status === 200) return sendShared(c, page, { ...headers, ...type });
      return respond(c, page.bytes, status, { ...headers, ...type, ETag: page.etag });
    },
  };
}
