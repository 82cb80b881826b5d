import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { contentType as typeByName } from 'mime-types';
import { LOG_SLUG, paperRoot } from '../desk/papers/paper.ts';
import { Edition, siteAt } from '../desk/press/edition.ts';
import { contentType } from '../desk/press/feeds/headers.ts';
import { newsstandView } from '../desk/press/newsstand.ts';
import type { Pictures, RenderTools } from '../desk/press/output.ts';
import { printPath, type SingleFile } from '../desk/press/outputs/all.ts';
import type { render } from '../render.ts';
import { deskLogView } from '../signing/log/log-view.ts';
import type { FiledContent } from '../store/desk/filed-content.ts';
import type { WritingDesk } from './desk.ts';
import { deskPage } from './desk-page.ts';
import { DESK_PATH, type PanelParts, withPanel } from './panel.ts';

/** What the development server shows. */
export interface DevDesk {
  desk: WritingDesk;
  pictures: Pictures;
  filed(): FiledContent;
  /** The address of the script that reloads an open page. */
  reloader: string;
  /** Whether this server opens files in the user's editor. */
  opensEditor: boolean;
}

/** The response at an address: a redirect, or a body. `isPage`: it was rendered, and has no panel yet. */
export type Shown = { location: string } | { status: number; type: string; body: string | Uint8Array; isPage: boolean };

type Tools = Pick<RenderTools, 'assets' | 'render'> & { render: typeof render };

const HTML = 'text/html; charset=utf-8';
/** The shared host's front page is here on the desk, because `/` redirects to the piece that was saved last. */
const NEWSSTAND = '/newsstand/';

export function partsOf({ desk, filed, reloader, opensEditor }: DevDesk): PanelParts {
  return { desk, filed: filed(), now: Date.now(), reloader, opensEditor };
}

/** The desk's response at an address, with `content/` as it is on disk; null when there is nothing. */
export async function shownAt(dev: DevDesk, { pathname, search, origin }: URL, tools: Tools): Promise<Shown | null> {
  const { desk } = dev;
  const page = (body: string, status = 200): Shown => ({ status, type: HTML, body, isPage: true });
  const list = (status: number): Shown => ({ status, type: HTML, body: deskPage(partsOf(dev)), isPage: false });
  // The file watch may be late, or missing on this file system.
  if (!/\.\w+$/.test(pathname) && !pathname.startsWith('/@')) await desk.refresh();
  if (pathname === DESK_PATH) return list(200);
  if (pathname === '/') {
    const last = desk.savedLast();
    if (last !== null) return { location: `/${last.paper}/stories/${last.piece.slug}/` };
  }
  if (pathname === '/' || pathname === NEWSSTAND) {
    return page(await tools.render('/newsstand', newsstandView(desk.store.desk, origin)));
  }
  if (pathname === `/${LOG_SLUG}/`) {
    return page(await tools.render('/log', deskLogView(desk, { origin, policy: null })));
  }
  const [, slug = '', path] = /^\/([^/]+)(?:\/(.*))?$/.exec(decoded(pathname)) ?? [];
  // A paper that the door refuses has no pages, but it has problems.
  if (desk.store.desk.paper(slug) === null) return desk.papers.has(slug) ? list(404) : null;
  const find = (wanted: string) => print(dev, { slug, path: wanted, origin }, tools);
  const found = await find(path === undefined || path === '' || path.endsWith('/') ? `${path ?? ''}index.html` : path);
  if (path === undefined || (found === null && (await find(`${path}/index.html`)) !== null)) {
    return { location: `${pathname}/${search}` };
  }
  if (found !== null) return fileShown(desk, found, 200);
  const missing = await find('404.html');
  return missing === null ? null : fileShown(desk, missing, 404);
}

/** Returns a path with invalid percent-encoding unchanged; there is nothing at it. */
function decoded(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

async function fileShown(desk: WritingDesk, found: SingleFile, status: number): Promise<Shown> {
  const type = typeOf(`/${found.path}`);
  if ('copy' in found) {
    // The file may have been removed since the desk last read the folder.
    const body = await readFile(desk.mediaPath(found.copy)).catch(() => null);
    return { status: body === null ? 404 : status, type, body: body ?? '', isPage: false };
  }
  const body = 'draw' in found ? await found.draw() : found.body;
  return { status, type, body, isPage: type.startsWith('text/html') };
}

export function typeOf(path: string): string {
  return contentType(path) ?? (typeByName(basename(path)) || 'application/octet-stream');
}

interface Place {
  slug: string;
  path: string;
  origin: string;
}

function print({ desk: { store }, pictures }: DevDesk, { slug, path, origin }: Place, tools: Tools) {
  const archive = store.desk.archive(slug);
  const site = siteAt({ root: paperRoot(archive.paper(), origin), served: paperRoot({ slug }, origin) });
  return printPath(new Edition(archive, site), path, { ...tools, pictures, now: Date.now() });
}

/** Whether the page is shown in a frame, without a panel: a card, a sample, or the front on the desk's page. */
export const isFramed = ({ pathname, searchParams }: URL): boolean =>
  /\/embed\/|\/sample\//.test(pathname) || searchParams.has('bare');

/** A rendered page with the panel. */
export function withDesk(dev: DevDesk, html: string, url: URL): string {
  return isFramed(url) ? html : withPanel(html, url.pathname, partsOf(dev));
}
