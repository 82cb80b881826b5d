import { readFileSync } from 'node:fs';
import type { MiddlewareHandler } from 'astro';
import { paperRoot } from '../desk/paper.ts';
import { readSettings } from '../env.ts';
import { Edition, placeOf } from '../press/edition.ts';
import type { Printed, Render } from '../press/sheet.ts';
import { sheetsOfPath } from '../press/sheets/paths.ts';
import type { Workshop } from '../works/workshop.ts';
import { openWorkshop } from '../works/workshop.ts';

/** What a page printed in development: the route and the view, to be rendered by Astro itself. */
const page = Symbol('page');
interface DevPage {
  [page]: { route: string; view: unknown };
}

let shop: Workshop | undefined;

/**
 * `npm run dev`: every address is printed anew from the live store. A sheet
 * "renders" by naming its route and view, which Astro's own server then shows,
 * so that a change of a page reloads at once.
 */
export const onRequest: MiddlewareHandler = async (context, next) => {
  shop ??= openWorkshop(readSettings());
  const { pathname } = context.url;
  const [, slug = '', path = ''] = /^\/([^/]+)\/(.*)$/.exec(pathname) ?? [];
  const paper = shop.store.paper(slug);
  if (paper === null) return next();
  const base = new URL(paperRoot({ slug }, context.url.origin));
  const found = await print(shop, slug, path === '' || path.endsWith('/') ? `${path}index.html` : path, base.href);
  if (found === null) return next();
  if ('copy' in found) return new Response(readFileSync(shop.media.pathOf(found.copy)));
  const body = 'draw' in found ? await found.draw() : found.body;
  const shown = (body as unknown as DevPage)[page];
  if (shown === undefined) return new Response(body as BodyInit);
  (context.locals as { view: unknown }).view = shown.view;
  return next(shown.route);
};

async function print({ store }: Workshop, slug: string, path: string, root: string): Promise<Exclude<Printed, { same: string }> | null> {
  const edition = new Edition(store.archive(slug), placeOf(root));
  const render = (async (route: string, view: unknown) => ({ [page]: { route, view } })) as unknown as Render;
  for (const { sheet, key } of sheetsOfPath(edition, path)) {
    const printed = await sheet.print(edition, key, { render, assets: () => [], now: Date.now() });
    const named = printed?.find((item) => item.path === path);
    const found = named && 'same' in named ? printed?.find((item) => item.path === named.same) : named;
    if (found !== undefined && !('same' in found)) return found;
  }
  return null;
}
