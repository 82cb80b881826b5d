import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import type { Workshop } from '../../src/works/workshop.ts';
import { Fault } from '../../src/fault.ts';
import { readFileSync } from 'node:fs';
import { fileAt, fileHeaders, isFolder, sendFile } from './pressed.ts';
import { siteOf } from './site.ts';

/** The papers' own addresses: their pressed trees, each at its root. */
export function paperDoor(shop: Workshop): Hono<{ Bindings: HttpBindings }> {
  const door = new Hono<{ Bindings: HttpBindings }>();
  const embedScripts = embedScriptHashes();
  door.on(['GET', 'HEAD'], ['/*'], async (c, next) => {
    const url = new URL(c.req.url);
    const site = siteOf(shop, url.host, url.pathname);
    if (site === null) return next();
    if (site.path === '') return c.redirect(`${url.pathname}/${url.search}`, 301);
    const folder = join(shop.settings.distDir, site.paper);
    if (site.path === '/api' || site.path.startsWith('/api/')) {
      throw new Fault('not_found', `there is no door at ${site.path}`);
    }
    const file = fileAt(folder, site.path);
    if (file === null && isFolder(folder, site.path)) return c.redirect(`${url.pathname}/${url.search}`, 301);
    const path = file ?? '/404.html';
    return sendFile(c.env, {
      folder,
      path,
      status: file === null ? 404 : isWithdrawn(shop, site.paper, path) ? 410 : 200,
      headers: fileHeaders(file === null ? path : site.path, site.root, embedScripts(join(folder, '_headers'))),
    });
  });
  return door;
}

/** The page of a withdrawn piece is there, and says that the piece is gone. */
function isWithdrawn({ store }: Workshop, paper: string, path: string): boolean {
  const slug = /^\/stories\/([^/]+)\/index\.html$/.exec(path)?.[1];
  return slug !== undefined && store.archive(paper).storyBySlug(slug)?.state === 'withdrawn';
}

/** The embed card's scripts are listed, by their hashes, in the pressed `_headers`. */
function embedScriptHashes(): (file: string) => string[] {
  const known = new Map<string, string[]>();
  return (file) => {
    const text = readFileSync(file, 'utf8');
    const key = createHash('sha256').update(text).digest('hex');
    let hashes = known.get(key);
    if (hashes === undefined) {
      hashes = [...new Set([...text.matchAll(/'(sha256-[A-Za-z0-9+/=]+)'/g)].map(([, hash = '']) => hash))];
      known.set(key, hashes);
    }
    return hashes;
  };
}
