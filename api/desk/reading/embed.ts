import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from '@hono/zod-openapi';
import type { Build } from '../../../src/desk/press/build.ts';
import { headerContext } from '../../../src/desk/press/outputs/documents.ts';
import { embedView } from '../../../src/desk/press/outputs/story.ts';
import { refuseWithdrawn, withdrawnAnswer } from '../../../src/desk/withdrawal.ts';
import type { AppContext } from '../../../src/server/context.ts';
import type { PaperContext } from '../../env.ts';
import { ErrorBody, faults, ProblemDetails } from '../../openapi/responses.ts';
import { fileHeaders } from '../../responses/files.ts';
import { wantsRecord } from '../../responses/send.ts';
import { sendFile } from '../../responses/send-file.ts';
import { archiveOf, editionOf, pieceNotFound, requirePiece } from '../context.ts';
import { beingPressed } from '../files/notices.ts';
import { embedScripts } from '../files/pressed-file.ts';
import { idParam, operationsUnder } from '../route.ts';

const html = { 'text/html': { schema: z.string() } };

const card = {
  operationId: 'readEmbed',
  summary: 'A piece’s card for an iframe',
  description:
    'Sets no cookies, runs no tracking, and loads nothing but its picture. With `#?secret=…` in its address it tells the page that frames it how high it is, and where a click leads, as WordPress expects.',
  request: { params: idParam },
  responses: {
    200: { description: 'The card.', content: html },
    ...faults(410),
    410: {
      description: 'The piece was withdrawn: a card that says so; the fault as a record for those who ask for JSON.',
      content: {
        ...html,
        'application/json': { schema: ErrorBody },
        'application/problem+json': { schema: ProblemDetails },
      },
    },
  },
};

/** The story card that other sites embed in a frame. Drafts have no card, even for their own desk. */
export function embedHandlers(app: AppContext, build: Build) {
  return {
    card: operationsUnder('Reading')(card, (c) => sendCard(app, build, c, c.req.valid('param').id)),
    // Pages and records link to this address, which is a folder on a static host.
    folder: (c: PaperContext) => sendCard(app, build, c, c.req.param('id') ?? ''),
  };
}

async function sendCard(app: AppContext, { render }: Build, c: PaperContext, id: string): Promise<Response> {
  const archive = archiveOf(app, c);
  const story = requirePiece(archive, id);
  // A site that embeds a card needs a page: a notice is better than an empty frame.
  if (wantsRecord(c)) refuseWithdrawn(story, 'record');
  const isNotice = withdrawnAnswer(story, 'page') === 'notice';
  if (!isNotice && story.state !== 'on_air') throw pieceNotFound(id);
  const { slug, root, paper } = c.get('site');
  const path = `/embed/${story.slug}/`;
  const status = isNotice ? 410 : 200;
  const guarded: Record<string, string> = c.get('key') === null ? {} : { 'Cache-Control': 'private, no-store' };
  if (paper.paper_public) {
    const folder = join(app.settings.distDir, slug);
    const scripts = embedScripts(folder);
    const file = join(folder, path, 'index.html');
    if (scripts === null || !existsSync(file)) return beingPressed(c);
    return sendFile(c, { file, status, headers: { ...fileHeaders(path, root, scripts), ...guarded } });
  }
  // Private papers are never pressed.
  const edition = editionOf(app, c);
  const { embed_scripts } = await headerContext(edition, render);
  const page = await render('/paper/embed', embedView(edition, story));
  const type = { 'Content-Type': 'text/html; charset=utf-8' };
  return c.body(page, status, { ...type, ...fileHeaders(path, root, embed_scripts), ...guarded });
}
