import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { APIContext, MiddlewareHandler, MiddlewareNext } from 'astro';
import { contentType as typeByName } from 'mime-types';
import { LOG_SLUG, paperRoot } from '../desk/papers/paper.ts';
import { Edition, siteAt } from '../desk/press/edition.ts';
import { contentType } from '../desk/press/feeds/headers.ts';
import { newsstandView } from '../desk/press/newsstand.ts';
import type { RenderedFile } from '../desk/press/output.ts';
import { printPath, type SingleFile } from '../desk/press/outputs/all.ts';
import { PROJECT } from '../shared/project.ts';
import { deskLogView } from '../signing/log/log-view.ts';
import { deskPage } from '../writing/desk-page.ts';
import { DESK_PATH, withPanel } from '../writing/panel.ts';
import { type DevDesk, sharedDesk } from './dev-desk.ts';

/** A page for Astro's server to render: an empty string that carries its route and view. */
class Page extends String {
  readonly route: string;
  readonly view: unknown;

  constructor(route: string, view: unknown) {
    super('');
    this.route = route;
    this.view = view;
  }
}

/**
 * `npm run dev`: answers every address from the writing desk, which shows `content/` as it stands on disk. Rendering a
 * page only returns its route and view, which Astro's server then renders, so that pages reload as soon as they change.
 */
export const onRequest: MiddlewareHandler = async (context, next) => {
  const { pathname, search, origin } = context.url;
  const isFile = /\.\w+$/.test(pathname) || pathname.startsWith('/@');
  const dev = sharedDesk();
  const { desk } = dev;
  // The watch may be late, or blind where the file system has none.
  if (!isFile) await desk.refresh();
  if (pathname === DESK_PATH) return html(deskPage(partsOf(dev)));
  if (pathname === '/') {
    const last = desk.savedLast();
    if (last !== null) return context.redirect(`/${last.paper}/stories/${last.piece.slug}/`, 307);
  }
  if (pathname === '/' || pathname === NEWSSTAND) {
    return show(context, next, new Page('/newsstand', newsstandView(desk.store.desk, origin)));
  }
  if (pathname === `/${LOG_SLUG}/`) {
    return show(context, next, new Page('/log', deskLogView(desk, { origin, policy: null })));
  }
  const [, slug = '', path] = /^\/([^/]+)(?:\/(.*))?$/.exec(decoded(pathname)) ?? [];
  if (desk.store.desk.paper(slug) === null) {
    // A paper that the door refuses has no pages, but it has problems.
    if (desk.papers.has(slug)) return html(deskPage(partsOf(dev)), 404);
    // Astro's routes are not public: pages are shown at the papers' addresses.
    return /^\/(paper|newsstand|log)(\/|$)/.test(pathname)
      ? new Response('There is nothing at this address.', { status: 404 })
      : next();
  }
  const find = (wanted: string) => print(dev, slug, wanted, origin);
  const found = await find(path === undefined || path === '' || path.endsWith('/') ? `${path ?? ''}index.html` : path);
  if (path === undefined || (found === null && (await find(`${path}/index.html`)) !== null)) {
    return context.redirect(`${pathname}/${search}`, 307);
  }
  if (found !== null) return answer(context, next, found);
  const missing = await find('404.html');
  return missing === null ? next() : answer(context, next, missing, 404);
};

/** The address of the shared host's front page, whose own address leads to the piece that was saved last. */
const NEWSSTAND = '/newsstand/';

/** A path that is not well encoded stays as it is, and leads nowhere. */
function decoded(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

function partsOf({ desk, filed }: DevDesk) {
  return { desk, filed: filed(), now: Date.now() };
}

function html(body: string, status = 200): Response {
  return new Response(body, {
    status,
    headers: { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' },
  });
}

/** A file as a response: its bytes, or a page rendered by Astro. */
async function answer(context: APIContext, next: MiddlewareNext, found: SingleFile, status = 200): Promise<Response> {
  const type = contentType(`/${found.path}`) ?? (typeByName(basename(found.path)) || 'application/octet-stream');
  const headers = { 'Content-Type': type };
  if ('copy' in found) {
    // It may have been removed since the desk last looked.
    const bytes = await readFile(sharedDesk().desk.mediaPath(found.copy)).catch(() => null);
    return new Response(bytes, { status: bytes === null ? 404 : 200, headers });
  }
  const body: unknown = 'draw' in found ? await found.draw() : found.body;
  if (body instanceof Page) return show(context, next, body, status);
  return new Response(body as BodyInit, { status, headers });
}

async function show(context: APIContext, next: MiddlewareNext, { route, view }: Page, status = 200): Promise<Response> {
  (context.locals as { view: unknown }).view = view;
  const rendered = await next(route);
  // An embed's card is framed by another page.
  const isFramed = /\/embed\//.test(context.url.pathname);
  if (!rendered.headers.get('Content-Type')?.startsWith('text/html') || isFramed) {
    return new Response(rendered.body, { status, headers: rendered.headers });
  }
  const page = withPanel(await rendered.text(), context.url.pathname, partsOf(sharedDesk()));
  return html(page, rendered.status === 200 ? status : rendered.status);
}

function print(
  { desk: { store }, pictures }: DevDesk,
  slug: string,
  path: string,
  origin: string,
): Promise<SingleFile | null> {
  const archive = store.desk.archive(slug);
  const site = siteAt({ root: paperRoot(archive.paper(), origin), served: paperRoot({ slug }, origin) });
  const edition = new Edition(archive, site);
  const render = (async (route: string, view: unknown) => new Page(route, view)) as never;
  return printPath(edition, path, { render, assets, pictures, now: Date.now() });
}

/** The files in `public/`; Vite serves the other assets. */
function assets(): RenderedFile[] {
  const folder = join(PROJECT, 'public');
  return readdirSync(folder).map((path) => ({ path, body: readFileSync(join(folder, path)) }));
}
