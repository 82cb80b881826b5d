import { join } from 'node:path';
import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { PROJECT } from '../../src/works/build.ts';
import type { Workshop } from '../../src/works/workshop.ts';
import { paperRoot } from '../../src/desk/paper.ts';
import type { Render } from '../../src/press/sheet.ts';
import type { NewsstandView } from '../../src/press/views.ts';
import { fileAt, fileHeaders, sendFile } from './pressed.ts';

/** How many headlines of a paper the stand shows. */
const HEADLINES = 3;

/** The shared host's front door: a stand of the public papers, and the files that its page needs. */
export function newsstandDoor(shop: Workshop, render: Render): Hono<{ Bindings: HttpBindings }> {
  const door = new Hono<{ Bindings: HttpBindings }>();
  const { origin } = shop.settings;
  door.on(['GET', 'HEAD'], ['/'], async (c) => {
    const html = await render('/newsstand', standOf(shop));
    return c.html(html, 200, { ...fileHeaders('/', origin, []), 'Cache-Control': 'public, max-age=0, s-maxage=60' });
  });
  door.on(['GET', 'HEAD'], ['/_astro/*', '/favicon.svg', '/robots.txt'], async (c, next) => {
    const folder = join(PROJECT, 'dist/client');
    const path = fileAt(folder, c.req.path);
    if (path === null) return next();
    return sendFile(c.env, { folder, path, status: 200, headers: fileHeaders(c.req.path, origin, []) });
  });
  return door;
}

function standOf({ store, settings }: Workshop): NewsstandView {
  const papers = store.paperSlugs().flatMap((slug) => {
    const paper = store.paper(slug);
    if (paper === null || !paper.paper_public) return [];
    const { nameplate, motto, description, hue, language, sections } = paper;
    const root = paperRoot(paper, settings.origin);
    const latest = store
      .archive(slug)
      .latest({ limit: HEADLINES })
      .map((row) => ({
        headline: row.headline,
        url: `${root}/stories/${row.slug}/`,
        published_at: new Date(row.published_at).toISOString(),
      }));
    return [{ slug, nameplate, motto, description, hue, language, sections, url: `${root}/`, latest }];
  });
  return { papers };
}
