import type { Build } from '../../../src/desk/press/build.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { notFound } from '../../middleware/key.ts';
import { PRIVATE } from '../../responses/send.ts';
import { archiveOf, requirePiece } from '../context.ts';
import { LOADED, previewedFile, previewedPage } from '../writing/preview-page.ts';
import type { ConsoleContext } from './session.ts';

/** The page of a piece as readers will see it, for the console's own frame, and the files that it loads. */
export function pieceFrame(app: AppContext, build: Build) {
  return async (c: ConsoleContext): Promise<Response> => {
    const id = c.req.param('id') ?? '';
    const { slug, served } = c.get('site');
    const story = requirePiece(archiveOf(app, c), id);
    const path = c.req.path.slice(`/${slug}/console/pieces/${id}/page/`.length);
    if (story.headline_withheld) throw notFound();
    if (path !== '' && !LOADED.test(path)) return c.redirect(`${served}/${path}`, 302);
    const response =
      path === ''
        ? await previewedPage(app, build, c, { story, below: `console/pieces/${id}/page` })
        : await previewedFile(app, build, c, { story, path });
    if (response === null) throw notFound();
    const csp = response.headers.get('Content-Security-Policy');
    // The console alone may frame it. The frame is sandboxed, and its page runs no script.
    if (csp !== null)
      response.headers.set('Content-Security-Policy', csp.replace(/frame-ancestors [^;]*/, "frame-ancestors 'self'"));
    response.headers.set('Cache-Control', PRIVATE);
    return response;
  };
}
