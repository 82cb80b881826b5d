import { existsSync, readFileSync, type Stats, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Context } from 'hono';
import { contentType as typeByName } from 'mime-types';
import type { Archive } from '../../../src/desk/archive.ts';
import { aliasFrom } from '../../../src/desk/door/alias.ts';
import { RESERVED_PAGES } from '../../../src/desk/door/reserved.ts';
import type { PressQueue } from '../../../src/desk/jobs/press-queue.ts';
import { countedPage } from '../../../src/desk/page-counts.ts';
import type { Build } from '../../../src/desk/press/build.ts';
import { Edition, siteAt, siteOf } from '../../../src/desk/press/edition.ts';
import { memoized } from '../../../src/desk/press/memoized.ts';
import { printPath } from '../../../src/desk/press/outputs/all.ts';
import { mediaByPictureId } from '../../../src/desk/press/outputs/assets.ts';
import { withdrawnAnswer } from '../../../src/desk/withdrawal.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { plainFile } from '../../../src/shared/files/plain-file.ts';
import type { DeskEnv, Site } from '../../env.ts';
import { paperOfKey } from '../../middleware/key.ts';
import type { PageCounts } from '../../middleware/page-counts.ts';
import { fileAt, fileHeaders, isFolder } from '../../responses/files.ts';
import { respond } from '../../responses/headers.ts';
import { type Representation, ResponseCache } from '../../responses/response-cache.ts';
import { sendShared, wantsRecord } from '../../responses/send.ts';
import { sendFile } from '../../responses/send-file.ts';
import type { HostHandler } from '../route.ts';
import type { Sites } from '../site.ts';
import { isPage, markdownPages, prefersMarkdown } from './markdown.ts';
import { beingPressed, isAwaitingPress } from './notices.ts';

const RESERVED = new Set(RESERVED_PAGES);
/** The first segment of a path, up to a dot. If the paper's own paths have it, no earlier address of a piece does. */
const FIRST_NAME = /^\/([^/.]*)/;
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

/** Where an earlier address of a piece redirects to; null for any other. Pressed files do this only on static hosts. */
function movedTo(
  { store }: AppContext,
  site: { slug: string; path: string; root: string; served: string },
): string | null {
  if (RESERVED.has(FIRST_NAME.exec(site.path)?.[1] ?? '')) return null;
  const slug = store.desk.archive(site.slug).redirect(aliasFrom(site.path));
  return slug === null ? null : `${siteAt(site).base}/stories/${slug}/`;
}

/** The page for missing addresses. */
const MISSING = '/404.html';

/** Serves the pressed tree of each paper under its root. */
export function pressedFile(
  app: AppContext,
  sites: Sites,
  {
    presses,
    backlog,
    build,
    counts,
  }: { presses: PressQueue; backlog: ReadonlySet<string>; build: Build; counts: PageCounts | null },
): HostHandler {
  const pages = sharedPages(app, build);
  const markdown = markdownPages();
  const originalOf = undrawnPictures(app);
  return async (c, next) => {
    const site = sites.of(c.env);
    if (!site?.paper?.paper_public) return next();
    const moved = movedTo(app, site);
    if (moved !== null) return c.redirect(moved, 301);
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
    if (isPage(file)) headers.Vary = 'Accept';
    if (isPage(file) && prefersMarkdown(c)) {
      const sent = await markdown(c, { folder, file, status, url: `${site.root}${site.path}`, headers });
      if (sent !== null) return sent;
    }
    const sent = pages.prints(site, file)
      ? await pages.send(c, site, { folder, file, status, scripts })
      : await sendFile(c, { file: join(folder, file), status, headers });
    const { headersSent, statusCode } = c.env.outgoing;
    const page = () => countedPage(file, (slug) => app.store.desk.archive(site.slug).storyBySlug(slug)?.id ?? null);
    counts?.note(c, headersSent ? statusCode : sent.status, site.slug, page, app.clock.now());
    return sent;
  };
}

/** Larger pages are sent as they were pressed, because printing one would block all other requests. In bytes. */
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
function sharedPages(app: AppContext, build: Build) {
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
        Vary: 'Accept',
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

/** Renders the files of a private paper for its keys on request; for all other callers the paper does not exist. */
export function privateFile(app: AppContext, sites: Sites, build: Build): HostHandler {
  return async (c, next) => {
    const held = paperOfKey(app.store.desk.keys, (name) => c.req.header(name), app.clock.now());
    const site = sites.of(c.env);
    if (!site?.paper || site.paper.paper_public || held !== site.slug) return next();
    const moved = movedTo(app, site);
    if (moved !== null) {
      return c.body(null, 301, { Location: moved, 'Cache-Control': 'private, no-store' });
    }
    const archive = app.store.desk.archive(site.slug);
    const edition = new Edition(archive, siteAt(site));
    const path = `${site.path.slice(1)}${site.path.endsWith('/') || site.path === '' ? 'index.html' : ''}`;
    const found = await renderedFile(app, build, edition, path);
    if (found === null) return next();
    const type = typeByName(basename(path)) || 'application/octet-stream';
    return c.body(found, pageStatus(`/${path}`, archive.storyBySlug), {
      'Content-Type': type,
      ...fileHeaders(site.path, site.root, [], site.paper.analytics),
      'Cache-Control': 'private, no-store',
    });
  };
}

/** A file of an edition, rendered now; null when there is none. */
export async function renderedFile(
  { store: { media, pictures }, clock: { now } }: AppContext,
  build: Build,
  edition: Edition,
  path: string,
) {
  const { render, assets } = build;
  const found = await printPath(edition, path, { render, assets, pictures, now: now() });
  if (found === null) return null;
  if ('copy' in found) return readFile(media.pathOf(found.copy));
  const body = 'draw' in found ? await found.draw() : found.body;
  return typeof body === 'string' ? body : Buffer.from(body);
}

/** The page of a withdrawn piece exists and says that the piece is gone. `path` begins with a slash. */
function pageStatus(path: string, storyBySlug: Archive['storyBySlug']): 200 | 410 {
  const slug = /^\/stories\/([^/]+)\/index\.html$/.exec(path)?.[1];
  const story = slug === undefined ? null : storyBySlug(slug);
  return story !== null && withdrawnAnswer(story, 'page') === 'notice' ? 410 : 200;
}

/** Hashes of the inline scripts in embed cards, from a tree's `_headers`; null for a paper that was never pressed. */
export function embedScripts(folder: string): string[] | null {
  const file = join(folder, '_headers');
  if (!existsSync(file)) return null;
  const listed = readFileSync(file, 'utf8').matchAll(/'(sha256-[A-Za-z0-9+/=]+)'/g);
  return [...new Set([...listed].map(([, hash = '']) => hash))];
}
