import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MiddlewareHandler } from 'astro';
import type { RenderedFile } from '../desk/press/output.ts';
import { PROJECT } from '../shared/project.ts';
import { shownAt, withDesk } from '../writing/shown.ts';
import { sharedDesk } from './shared-desk.ts';

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
 * `npm run dev`: answers every address from the writing desk. Rendering a page only returns its route and view, which
 * Astro's server then renders, so that pages reload as soon as they change.
 */
export const onRequest: MiddlewareHandler = async (context, next) => {
  const dev = sharedDesk();
  const { pathname } = context.url;
  const shown = await shownAt(dev, context.url, { render, assets });
  if (shown === null) {
    // Astro's routes are not public: pages are shown at the papers' addresses.
    return /^\/(paper|newsstand|log)(\/|$)/.test(pathname)
      ? new Response('There is nothing at this address.', { status: 404 })
      : next();
  }
  if ('location' in shown) return context.redirect(shown.location, 307);
  const { status, type } = shown;
  const body: unknown = shown.body;
  const headers = { 'Content-Type': type, ...(type.startsWith('text/html') ? { 'Cache-Control': 'no-store' } : {}) };
  if (!(body instanceof Page)) return new Response(body as BodyInit, { status, headers });
  (context.locals as { view: unknown }).view = body.view;
  const rendered = await next(body.route);
  // The page of an error is Astro's own, and says what is wrong.
  if (rendered.status !== 200 || !rendered.headers.get('Content-Type')?.startsWith('text/html')) return rendered;
  return new Response(withDesk(dev, await rendered.text(), context.url), { status, headers });
};

const render = (async (route: string, view: unknown) => new Page(route, view)) as never;

/** The files in `public/`; Vite serves the other assets. */
function assets(): RenderedFile[] {
  const folder = join(PROJECT, 'public');
  return readdirSync(folder).map((path) => ({ path, body: readFileSync(join(folder, path)) }));
}
