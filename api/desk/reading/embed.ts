import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from '@hono/zod-openapi';
import {
  ADDRESS_MAX,
  CARD_WIDTH_MAX,
  CARD_WIDTH_MIN,
  cardSize,
  embedTarget,
  OEmbed,
} from '../../../src/desk/oembed.ts';
import { paperRoot } from '../../../src/desk/papers/paper.ts';
import type { Build } from '../../../src/desk/press/build.ts';
import { castRecord, oembedRecord, oembedXml } from '../../../src/desk/press/feeds/oembed.ts';
import { headerContext } from '../../../src/desk/press/outputs/documents.ts';
import { embedView } from '../../../src/desk/press/outputs/story.ts';
import { refuseWithdrawn, withdrawnAnswer } from '../../../src/desk/withdrawal.ts';
import { fill } from '../../../src/phrases/fill.ts';
import { phrasesOf } from '../../../src/phrases/tables.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Fault } from '../../../src/shared/fault.ts';
import type { PaperContext } from '../../env.ts';
import { ErrorBody, faults, ok, ProblemDetails } from '../../openapi/responses.ts';
import { fileHeaders } from '../../responses/files.ts';
import { cached } from '../../responses/reply.ts';
import { wantsRecord } from '../../responses/send.ts';
import { sendFile } from '../../responses/send-file.ts';
import { archiveOf, editionOf, pieceNotFound, readablePiece, requirePiece } from '../context.ts';
import { beingPressed } from '../files/notices.ts';
import { embedScripts } from '../files/pressed-file.ts';
import { SAMPLE } from '../openapi/examples.ts';
import type { PaperResponses } from '../paper-responses.ts';
import { idParam, operationsUnder } from '../route.ts';

const html = { 'text/html': { schema: z.string() } };

const card = {
  operationId: 'readEmbed',
  summary: 'A piece’s card for an iframe',
  description:
    'Sets no cookies, runs no tracking, and loads nothing but its picture. With `#?secret=…` in its address it tells the embedding page its height and where a click leads, as WordPress expects.',
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

/** A whole number of pixels, at least `least`. */
const pixels = (least: number, description: string) =>
  z
    .string()
    .regex(/^\d{1,100}$/, `must be a whole number, at least ${least}`)
    .transform(Number)
    .refine((number) => number >= least, `must be a whole number, at least ${least}`)
    .optional()
    .openapi({ type: 'integer', minimum: least, description });

const oembed = {
  operationId: 'readOEmbed',
  summary: 'The oEmbed record of a story’s address, or an edition’s',
  request: {
    query: z.object({
      url: z.string('must be the address of a story or an edition of this paper').max(ADDRESS_MAX).openapi({
        description:
          'The address of a story of this paper (of its page or of its Markdown version), or of the page of an edition to watch or hear; a query or a fragment changes nothing.',
        maxLength: ADDRESS_MAX,
        example: SAMPLE.address,
      }),
      maxwidth: pixels(
        CARD_WIDTH_MIN,
        `The maximum width of the card; more than ${CARD_WIDTH_MAX} counts as ${CARD_WIDTH_MAX}.`,
      ),
      maxheight: pixels(1, 'The maximum height of the card. A low card is narrower, or has no picture.'),
      format: z
        .string()
        .default('json')
        .openapi({ description: '`json` or `xml`; anything else is a 501.', example: 'json' }),
    }),
  },
  responses: {
    200: {
      ...ok(OEmbed, 'The record.'),
      content: {
        'application/json': { schema: OEmbed },
        'text/xml': { schema: z.string().openapi({ description: 'The same members in an `oembed` element.' }) },
      },
    },
    ...faults(410, 501),
  },
};

/** What another site needs to embed a story's card or the player of an edition. */
export function readOEmbed(app: AppContext, responses: PaperResponses) {
  return operationsUnder('Reading')(oembed, (c) => {
    const { url, maxwidth = null, maxheight = null, format } = c.req.valid('query');
    if (format !== 'json' && format !== 'xml')
      throw new Fault(
        'not_implemented',
        `format ${JSON.stringify(format.slice(0, 40))} is not offered; take json or xml`,
      );
    const { slug, root } = c.get('site');
    const named = embedTarget(url, [root, paperRoot({ slug }, app.settings.origin)]);
    if (named === null) throw notHere(url);
    const make = () => {
      const edition = editionOf(app, c);
      if ('cast' in named) {
        const cast = edition.cast(named.cast);
        if (cast === null) throw notHere(url);
        return castRecord(edition, cast, { maxwidth, maxheight });
      }
      const story = readablePiece(archiveOf(app, c), named.story, c);
      // Page URLs contain the slug, never the id. Drafts have no page.
      if (story.slug !== named.story || story.state !== 'on_air') throw notHere(url);
      const { headline, dek, byline, writer, language } = story;
      const card = {
        headline,
        dek,
        byline:
          writer === null ? byline.name : fill(phrasesOf(language).byline.written, { writer, persona: byline.name }),
        nameplate: edition.paper().nameplate,
      };
      const size = cardSize(Math.min(maxwidth ?? CARD_WIDTH_MAX, CARD_WIDTH_MAX), maxheight ?? Infinity, card);
      return oembedRecord(edition, story, size, { maxwidth, maxheight });
    };
    const name = `oembed ${format} ${JSON.stringify(named)} ${maxwidth} ${maxheight}`;
    return format === 'xml'
      ? responses.text(c, name, () => oembedXml(make()), { 'Content-Type': 'text/xml; charset=utf-8' })
      : cached(name, make);
  });
}

function notHere(url: string): Fault {
  return new Fault(
    'not_found',
    `${JSON.stringify(url.slice(0, 200))} is not the address of a story on air in this paper, nor of an edition`,
    { field: 'url' },
  );
}
