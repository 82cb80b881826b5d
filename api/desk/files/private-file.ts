import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { contentType as typeByName } from 'mime-types';
import type { Archive } from '../../../src/desk/archive.ts';
import type { Build } from '../../../src/desk/press/build.ts';
import { Edition, siteAt } from '../../../src/desk/press/edition.ts';
import { printPath } from '../../../src/desk/press/outputs/all.ts';
import { withdrawnAnswer } from '../../../src/desk/withdrawal.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { paperOfKey } from '../../middleware/key.ts';
import { fileHeaders } from '../../responses/files.ts';
import type { HostHandler } from '../route.ts';
import type { Sites } from '../site.ts';

/** Renders the files of a private paper for its keys on request; for all other callers the paper does not exist. */
export function privateFile(app: AppContext, sites: Sites, build: Build): HostHandler {
  return async (c, next) => {
    const held = paperOfKey(app.store.desk.keys, (name) => c.req.header(name), app.clock.now());
    const site = sites.of(c.env);
    if (!site?.paper || site.paper.paper_public || held !== site.slug) return next();
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
export function pageStatus(path: string, storyBySlug: Archive['storyBySlug']): 200 | 410 {
  const slug = /^\/stories\/([^/]+)\/index\.html$/.exec(path)?.[1];
  const story = slug === undefined ? null : storyBySlug(slug);
  return story !== null && withdrawnAnswer(story, 'page') === 'notice' ? 410 : 200;
}
