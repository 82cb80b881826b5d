import { contentType as typeByName } from 'mime-types';
import type { Archive } from '../../../src/desk/archive.ts';
import type { Build } from '../../../src/desk/press/build.ts';
import { Edition, siteAt } from '../../../src/desk/press/edition.ts';
import { memoized } from '../../../src/desk/press/memoized.ts';
import type { AppContext } from '../../../src/server/context.ts';
import type { PaperContext } from '../../env.ts';
import { notFound } from '../../middleware/key.ts';
import { fileHeaders } from '../../responses/files.ts';
import { renderedFile } from '../files/pressed-file.ts';
import { LOADED } from '../writing/preview-page.ts';
import type { ConsoleContext } from './session.ts';

/** The paper as the console's frames show it: its links and files stay below `console/see`. */
export function seenEdition(archive: Archive, c: PaperContext): Edition {
  const at = siteAt(c.get('site'));
  return new Edition(memoized(archive), { ...at, base: `${at.base}/console/see` });
}

/** Prints a page of an edition, which may differ from the ledger's, for a frame of the console. */
export async function seenPage(
  app: AppContext,
  build: Build,
  c: ConsoleContext,
  { edition, path }: { edition: Edition; path: string },
): Promise<Response> {
  const html = await renderedFile(app, build, edition, path);
  if (html === null) throw notFound();
  return framed(c, html, { path: '/', type: 'text/html; charset=UTF-8', cache: 'private, no-store' });
}

/** The files that such a page loads, and the console's own thumbnails. Any other address leads to the paper. */
export function seenFile(app: AppContext, build: Build) {
  return async (c: ConsoleContext): Promise<Response> => {
    const { slug, served } = c.get('site');
    const path = c.req.path.slice(`/${slug}/console/see/`.length);
    const type = typeByName(path.slice(path.lastIndexOf('/') + 1)) || 'application/octet-stream';
    // A video is served by ranges, from the paper itself.
    if (!LOADED.test(path) || /^(?:video|audio)\//.test(type)) return c.redirect(`${served}/${path}`, 302);
    const options = { path: `/${path}`, type, cache: 'private, max-age=300' };
    const built = build.asset(path);
    if (built !== null) return framed(c, built.bytes, options);
    const found = await renderedFile(app, build, seenEdition(app.store.desk.archive(slug), c), path);
    if (found === null) throw notFound();
    return framed(c, found, options);
  };
}

function framed(
  c: ConsoleContext,
  body: string | Uint8Array,
  { path, type, cache }: { path: string; type: string; cache: string },
): Response {
  const { 'Content-Security-Policy': csp = '', ...headers } = fileHeaders(path, c.get('site').served, []);
  return c.body(typeof body === 'string' ? body : Buffer.from(body), 200, {
    ...headers,
    // The console alone may frame it. The frame is sandboxed, and its page runs no script.
    'Content-Security-Policy': csp.replace(/frame-ancestors [^;]*/, "frame-ancestors 'self'"),
    'Content-Type': type,
    'Cache-Control': cache,
  });
}
