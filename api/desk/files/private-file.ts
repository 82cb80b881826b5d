import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { contentType as typeByName } from 'mime-types';
import type { Build } from '../../../src/app/build.ts';
import type { AppContext } from '../../../src/app/context.ts';
import { Edition, siteAt } from '../../../src/press/edition.ts';
import type { SingleFile } from '../../../src/press/outputs/paths.ts';
import { printPath } from '../../../src/press/outputs/paths.ts';
import { paperOfKey } from '../../middleware/key.ts';
import { fileHeaders } from '../../responses/files.ts';
import type { HostHandler } from '../route.ts';
import type { Sites } from '../site.ts';
import { pageStatus } from './pressed-file.ts';

/**
 * Serves the pages, feeds and cards of a private paper to callers with one of its keys. Private papers are never
 * pressed: each file is rendered on request. For all other callers the paper does not exist.
 */
export function privateFile(app: AppContext, sites: Sites, build: Build): HostHandler {
  return async (c, next) => {
    const held = paperOfKey(app.store.keys, (name) => c.req.header(name), app.now());
    const site = sites.of(c.env);
    if (!site?.paper || site.paper.paper_public || held !== site.slug) return next();
    const archive = app.store.archive(site.slug);
    const edition = new Edition(archive, siteAt(site));
    const path = `${site.path.slice(1)}${site.path.endsWith('/') || site.path === '' ? 'index.html' : ''}`;
    const found = await printPath(edition, path, {
      render: build.render,
      assets: build.assets,
      pictures: app.pictures,
      now: app.now(),
    });
    if (found === null) return next();
    const type = typeByName(basename(path)) || 'application/octet-stream';
    return c.body(await bytesOf(app, found), pageStatus(`/${path}`, archive.storyBySlug), {
      'Content-Type': type,
      ...fileHeaders(site.path, site.root, [], site.paper.analytics),
      'Cache-Control': 'private, no-store',
    });
  };
}

async function bytesOf({ media }: AppContext, found: SingleFile): Promise<string | Uint8Array<ArrayBuffer>> {
  if ('copy' in found) return readFile(media.pathOf(found.copy));
  const body = 'draw' in found ? await found.draw() : found.body;
  return typeof body === 'string' ? body : Buffer.from(body);
}
