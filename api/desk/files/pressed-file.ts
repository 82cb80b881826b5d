import { join } from 'node:path';
import type { PressQueue } from '../../../src/desk/jobs/press-queue.ts';
import type { Build } from '../../../src/desk/press/build.ts';
import { Edition, siteAt, siteOf } from '../../../src/desk/press/edition.ts';
import { mediaByPictureId } from '../../../src/desk/press/outputs/assets.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { plainFile } from '../../../src/shared/files/plain-file.ts';
import { fileAt, fileHeaders, isFolder } from '../../responses/files.ts';
import { wantsRecord } from '../../responses/send.ts';
import { sendFile } from '../../responses/send-file.ts';
import type { HostHandler } from '../route.ts';
import type { Sites } from '../site.ts';
import { embedScripts } from './embed-scripts.ts';
import { beingPressed, isAwaitingPress } from './notices.ts';
import { pageStatus } from './private-file.ts';
import { sharedPages } from './shared-pages.ts';

const PICTURE = /^\/pictures\/([0-9a-f]+)-\d+\.(?:avif|webp)$/;

/** Finds the media file of a picture's path while its variants are not drawn; null for any other path. */
function undrawnPictures({ store }: AppContext): (paper: string, path: string) => string | null {
  /** The media paths of each paper by picture, as of an edition. */
  const known = new Map<string, { edition: number; paths: Map<string, string> }>();
  return (paper, path) => {
    const id = PICTURE.exec(path)?.[1];
    if (id === undefined) return null;
    const archive = store.desk.archive(paper);
    const { edition } = archive.paper();
    let found = known.get(paper);
    if (found?.edition !== edition) {
      found = { edition, paths: mediaByPictureId(new Edition(archive, siteOf('http://localhost'))) };
      known.set(paper, found);
    }
    return found.paths.get(id) ?? null;
  };
}

/** The page for missing addresses. */
const MISSING = '/404.html';

/** Serves the pressed tree of each paper under its root. */
export function pressedFile(
  app: AppContext,
  sites: Sites,
  { presses, backlog, build }: { presses: PressQueue; backlog: ReadonlySet<string>; build: Build },
): HostHandler {
  const pages = sharedPages(app, build);
  const originalOf = undrawnPictures(app);
  return async (c, next) => {
    const site = sites.of(c.env);
    if (!site?.paper?.paper_public) return next();
    const folder = join(app.settings.distDir, site.slug);
    const file = fileAt(folder, site.path);
    if (site.path === '' || (file === null && isFolder(folder, site.path))) {
      const { pathname, search } = new URL(c.req.url);
      return c.redirect(`${pathname}/${search}`, 301);
    }
    const scripts = embedScripts(folder);
    // A paper without a `_headers` file is being pressed for the first time, or its files were deleted. The press
    // detects both, and retries on a timer after a failure.
    if (scripts === null) {
      if (!backlog.has(site.slug) && !presses.isPressing(site.slug)) presses.press(site.slug).catch(() => {});
      return beingPressed(c);
    }
    const headers = fileHeaders(site.path, site.root, scripts, site.paper.analytics);
    if (file === null) {
      // A tree that another build pressed has other stylesheets than the pages that this process prints.
      const content = site.path.startsWith('/_astro/') ? build.asset(site.path.slice(1)) : null;
      if (content !== null) {
        return sendFile(c, { file: site.path, content, status: 200, headers });
      }
      const original = originalOf(site.slug, site.path);
      // The picture is not drawn yet. The address of the variant shows it soon, so this response is not cacheable.
      if (original !== null) {
        const location = `${siteAt(site).base}/${original}`;
        return c.body(null, 307, { Location: encodeURI(location), 'Cache-Control': 'no-store' });
      }
      if (isAwaitingPress(app, site.slug, site.path)) return beingPressed(c);
      if (wantsRecord(c)) return next();
      if (pages.prints(site, MISSING)) return pages.send(c, site, { folder, file: MISSING, status: 404, scripts });
      if (plainFile(folder, MISSING) === null) return next();
      const missing = { ...fileHeaders(MISSING, site.root, scripts, site.paper.analytics), Vary: 'Accept' };
      return sendFile(c, { file: join(folder, MISSING), status: 404, headers: missing });
    }
    const status = pageStatus(file, app.store.desk.archive(site.slug).storyBySlug);
    if (pages.prints(site, file)) return pages.send(c, site, { folder, file, status, scripts });
    return sendFile(c, { file: join(folder, file), status, headers });
  };
}
