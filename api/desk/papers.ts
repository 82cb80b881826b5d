import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Hono } from 'hono';
import { Fault } from '../../src/fault.ts';
import type { Workshop } from '../../src/works/workshop.ts';
import type { DeskEnv } from '../env.ts';
import { fileAt, fileHeaders, isFolder } from './pressed.ts';
import { sendFile } from './send-file.ts';
import type { Sites } from './site.ts';

/** The papers' own addresses: their pressed trees, each at its root. */
export function paperDoor(shop: Workshop, sites: Sites): Hono<DeskEnv> {
  const door = new Hono<DeskEnv>();
  const embedScripts = embedScriptHashes();
  door.on(['GET', 'HEAD'], ['/*'], async (c, next) => {
    const site = sites.of(c.req.raw);
    if (!site?.paper?.paper_public) return next();
    const folder = join(shop.settings.distDir, site.slug);
    const file = fileAt(folder, site.path);
    if (site.path === '' || (file === null && isFolder(folder, site.path))) {
      const { pathname, search } = new URL(c.req.url);
      return c.redirect(`${pathname}/${search}`, 301);
    }
    const scripts = embedScripts(join(folder, '_headers'));
    const path = file ?? '/404.html';
    return sendFile(c.env, {
      file: join(folder, path),
      status: file === null ? 404 : isWithdrawn(shop, site.slug, path) ? 410 : 200,
      headers: {
        ...fileHeaders(file === null ? path : site.path, site.root, scripts),
      },
    });
  });
  return door;
}

/** The page of a withdrawn piece is there, and says that the piece is gone. */
function isWithdrawn({ store }: Workshop, paper: string, path: string): boolean {
  const slug = /^\/stories\/([^/]+)\/index\.html$/.exec(path)?.[1];
  return slug !== undefined && store.archive(paper).storyBySlug(slug)?.state === 'withdrawn';
}

/**
 * The embed card's scripts are listed, by their hashes, in the pressed `_headers`.
 * Throws `unavailable` when the paper was never pressed.
 */
function embedScriptHashes(): (file: string) => string[] {
  const known = new Map<string, { mark: string; hashes: string[] }>();
  return (file) => {
    const stat = statSync(file, { throwIfNoEntry: false });
    if (stat === undefined)
      throw new Fault('unavailable', 'this paper is being pressed for the first time; try again soon');
    const mark = `${stat.mtimeMs} ${stat.size}`;
    const before = known.get(file);
    if (before?.mark === mark) return before.hashes;
    const listed = readFileSync(file, 'utf8').matchAll(/'(sha256-[A-Za-z0-9+/=]+)'/g);
    const hashes = [...new Set([...listed].map(([, hash = '']) => hash))];
    known.set(file, { mark, hashes });
    return hashes;
  };
}
