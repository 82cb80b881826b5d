import { join } from 'node:path';
import { Hono } from 'hono';
import { etag, RETAINED_304_HEADERS } from 'hono/etag';
import type { AppContext } from '../../src/app/context.ts';
import { eventLoop } from '../../src/app/event-loop.ts';
import type { PendingFolders } from '../../src/app/pending-folders.ts';
import type { PressQueue } from '../../src/app/press-queue.ts';
import { paperRoot } from '../../src/desk/paper.ts';
import { newsstandView, publicPapers } from '../../src/press/newsstand.ts';
import type { Render } from '../../src/press/output.ts';
import { PROJECT } from '../../src/project.ts';
import type { DeskEnv } from '../env.ts';
import { fileAt, fileHeaders } from '../responses/files.ts';
import { sendFile } from '../responses/send-file.ts';
import { CATALOG_PATH, CATALOG_TYPE, catalogLinks, catalogOf } from './api-catalog.ts';
import { beingPressed } from './being-pressed.ts';

/** A page of another site that asks again must be let read that nothing changed. */
const marked = etag({ retainedHeaders: [...RETAINED_304_HEADERS, 'access-control-allow-origin', 'link'] });

/** The shared host's front door: a stand of the public papers, and the files that its page needs. */
export function newsstandDoor(
  app: AppContext,
  render: Render,
  { presses, backlog }: { presses: PressQueue; backlog: PendingFolders },
): Hono<DeskEnv> {
  const door = new Hono<DeskEnv>();
  const { origin } = app.settings;
  const headers = fileHeaders('/404.html', origin, []);
  door.on(['GET', 'HEAD'], ['/'], marked, async (c) => {
    // On a first start there is nothing to show yet; later, what is shown while papers are filed is not to be kept.
    if (!backlog.isEmpty && !publicPapers(app.store).some(({ slug }) => presses.isShown(slug))) return beingPressed(c);
    const page = await render('/newsstand', newsstandView(app.store, origin));
    const { 'Cache-Control': kept = '', ...rest } = headers;
    return c.html(page, 200, {
      ...rest,
      'Cache-Control': backlog.isEmpty ? kept : 'no-store',
      Link: catalogLinks(origin, []),
    });
  });
  door.on(['GET', 'HEAD'], [CATALOG_PATH], marked, (c) => {
    const papers = publicPapers(app.store).map((paper) => ({
      root: paperRoot(paper, origin),
      nameplate: paper.nameplate,
    }));
    const open = fileHeaders(CATALOG_PATH, origin, []);
    const about = { 'Content-Type': CATALOG_TYPE, Link: catalogLinks(origin, []) };
    return c.body(JSON.stringify(catalogOf(origin, papers)), 200, { ...headers, ...open, ...about });
  });
  // For monitors, as the domain records have it.
  door.on(['GET', 'HEAD'], ['/health'], (c) => {
    const body = { status: 'ok', event_loop_delay_max_ms: eventLoop.worst() };
    return c.json(body, 200, { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' });
  });
  door.on(['GET', 'HEAD'], ['/robots.txt'], marked, (c) => c.text(robotsOf(app), 200, headers));
  door.on(['GET', 'HEAD'], ['/_astro/*', '/favicon.svg'], async (c, next) => {
    const folder = join(PROJECT, 'dist/client');
    const path = fileAt(folder, c.req.path);
    if (path === null) return next();
    return sendFile(c, {
      file: join(folder, path),
      status: 200,
      headers: fileHeaders(c.req.path, origin, []),
    });
  });
  return door;
}

/** A crawler reads robots.txt at a host's root alone: this one names the sitemaps of every paper. */
function robotsOf(app: AppContext): string {
  const roots = publicPapers(app.store).map((paper) => paperRoot(paper, app.settings.origin));
  const sitemaps = roots.flatMap((root) => [`Sitemap: ${root}/sitemap.xml`, `Sitemap: ${root}/sitemap-news.xml`]);
  return ['User-agent: *', 'Allow: /', '', ...sitemaps, ''].join('\n');
}
