import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { APIContext, MiddlewareHandler, MiddlewareNext } from 'astro';
import { contentType as typeByName } from 'mime-types';
import type { AppContext } from '../app/context.ts';
import { openAppContext } from '../app/context.ts';
import { ownPolicy } from '../app/log-policy.ts';
import { deskLogView } from '../app/log-view.ts';
import { LOG_SLUG, paperRoot } from '../desk/paper.ts';
import { readSettings } from '../env.ts';
import { Edition, siteAt } from '../press/edition.ts';
import { contentType } from '../press/feeds/headers.ts';
import { newsstandView } from '../press/newsstand.ts';
import type { RenderedFile } from '../press/output.ts';
import type { SingleFile } from '../press/outputs/paths.ts';
import { printPath } from '../press/outputs/paths.ts';
import { PROJECT } from '../project.ts';

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

let app: AppContext | undefined;

/**
 * `npm run dev`: answers every address from the live store. Rendering a page only returns its route and view, which
 * Astro's server then renders, so that pages reload as soon as they change.
 */
export const onRequest: MiddlewareHandler = async (context, next) => {
  app ??= openAppContext(readSettings());
  const { pathname, search, origin } = context.url;
  if (pathname === '/') return show(context, next, new Page('/newsstand', newsstandView(app.store, origin)));
  if (pathname === `/${LOG_SLUG}/`) {
    const view = deskLogView(app, { origin, policy: ownPolicy(app.settings) });
    return show(context, next, new Page('/log', view));
  }
  const [, slug = '', path] = /^\/([^/]+)(?:\/(.*))?$/.exec(decodeURI(pathname)) ?? [];
  if (app.store.paper(slug) === null) {
    // Astro's routes are not public: pages are shown at the papers' addresses.
    return /^\/(paper|newsstand|log)(\/|$)/.test(pathname)
      ? new Response('There is nothing at this address.', { status: 404 })
      : next();
  }
  const find = (wanted: string) => print(app as AppContext, slug, wanted, origin);
  const found = await find(path === undefined || path === '' || path.endsWith('/') ? `${path ?? ''}index.html` : path);
  if (path === undefined || (found === null && (await find(`${path}/index.html`)) !== null)) {
    return context.redirect(`${pathname}/${search}`, 307);
  }
  if (found !== null) return answer(context, next, found);
  const missing = await find('404.html');
  return missing === null ? next() : answer(context, next, missing, 404);
};

/** A file as a response: its bytes, or a page rendered by Astro. */
async function answer(context: APIContext, next: MiddlewareNext, found: SingleFile, status = 200): Promise<Response> {
  const type = contentType(`/${found.path}`) ?? (typeByName(basename(found.path)) || 'application/octet-stream');
  if ('copy' in found)
    return new Response(readFileSync((app as AppContext).media.pathOf(found.copy)), {
      headers: { 'Content-Type': type },
    });
  const body: unknown = 'draw' in found ? await found.draw() : found.body;
  if (body instanceof Page) return show(context, next, body, status);
  return new Response(body as BodyInit, { status, headers: { 'Content-Type': type } });
}

async function show(context: APIContext, next: MiddlewareNext, { route, view }: Page, status = 200): Promise<Response> {
  (context.locals as { view: unknown }).view = view;
  const { body, headers } = await next(route);
  return new Response(body, { status, headers });
}

function print(
  { store, pictures }: AppContext,
  slug: string,
  path: string,
  origin: string,
): Promise<SingleFile | null> {
  const archive = store.archive(slug);
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
