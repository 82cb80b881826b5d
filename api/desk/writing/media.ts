import { createHash } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import { keepUpload } from '../../../src/desk/ingest/filed-media.ts';
import type { Media } from '../../../src/desk/papers/media.ts';
import { isShownUse, MediaRow, MediaUse, mediaRow, mediaUses } from '../../../src/desk/papers/media-use.ts';
import { Fault } from '../../../src/shared/fault.ts';
import type { PaperContext } from '../../env.ts';
import { idempotencyKey } from '../../middleware/idempotency.ts';
import { created, faults, IDEMPOTENCY, ok } from '../../openapi/responses.ts';
import { cursorOf, cursorParam, limitParam, pageOf, readCursor } from '../../responses/paging.ts';
import { reply } from '../../responses/reply.ts';
import { archiveOf } from '../context.ts';
import { listOf, listSchema, operationsUnder, writes } from '../route.ts';
import { receiveUpload } from './media-body.ts';
import { Pressing, putRecord, requiresTerms, type Writer, write } from './write.ts';

const binary = { type: 'string', format: 'binary' } as const;

export const Uploaded = MediaRow.safeExtend(Pressing).openapi('UploadedMedia');

const upload = writes({
  operationId: 'uploadMedia',
  tags: ['Writing'],
  summary: 'Upload a picture, a video, a sound, captions or a stylesheet',
  description: [
    'As `multipart/form-data`, or the bytes themselves with `Content-Type`, `X-Media-Path` and, percent-encoded, `X-Media-Alt`. JPEG, PNG, WebP, AVIF, GIF, SVG (without scripts), MP4, MP3, M4A, WebVTT and CSS; a picture has 20 MiB at most, a video or a sound 500 MiB.',
    'The file is checked as one in the paper’s folder is, and is public at `url` once it is pressed. The same bytes at the same path again are answered 200; other bytes at a path that is taken are 409. Without a path, the file’s own name or its digest makes one.',
  ].join('\n\n'),
  before: [],
  request: {
    headers: IDEMPOTENCY.safeExtend({
      'x-media-path': z
        .string()
        .max(200)
        .optional()
        .openapi({ description: 'Of bytes alone.', example: 'media/art/quay.svg' }),
      'x-media-alt': z.string().max(6_000).optional().openapi({ description: 'Of bytes alone, percent-encoded.' }),
    }),
    body: {
      required: true,
      content: {
        'multipart/form-data': {
          schema: {
            type: 'object',
            required: ['file'],
            properties: {
              file: binary,
              path: { type: 'string', maxLength: 200, example: 'media/art/quay.jpg' },
              alt: { type: 'string', maxLength: 500, example: 'Two ferries at the quay' },
            },
          },
        },
        'application/octet-stream': { schema: binary },
      },
    },
  },
  responses: {
    200: ok(Uploaded, 'The paper has these bytes at this path already.'),
    201: created(Uploaded, 'Kept, and pressed.'),
    ...faults(409),
  },
});

const ListedMedia = MediaRow.safeExtend({ used_by: z.array(MediaUse) }).openapi('ListedMedia');

const list = {
  operationId: 'listMedia',
  summary: 'The paper’s media, by path, and what uses each',
  request: { query: z.object({ limit: limitParam(50, 200), cursor: cursorParam }) },
  responses: { 200: ok(listSchema('MediaList', 'media', ListedMedia), 'By path.') },
};

const remove = writes({
  operationId: 'removeMedia',
  tags: ['Desk'],
  summary: 'Remove a media file',
  description:
    'Refused (409) while a piece on air or scheduled, a persona, an edition, a page or the paper’s record uses it. The slashes of the path may be percent-encoded.',
  request: {
    params: z.object({
      path: z.string().max(1_000).openapi({
        description: 'As it is listed.',
        example: 'media/art/quay.svg',
      }),
    }),
  },
  responses: {
    200: ok(
      z.object({ path: z.string(), removed: z.literal(true), ...Pressing }).openapi('RemovedMedia'),
      'Its address answers 404.',
    ),
    ...faults(409),
  },
});

const MediaCursor = z.tuple([z.string().max(1_000)]);

/** The paper's media: uploads by agents and admins, the list, and removals. */
export function mediaHandlers(writer: Writer) {
  const { app } = writer;
  return {
    upload: {
      spec: upload,
      readsItself: true as const,
      before: [requiresTerms(app)],
      handle: async (c: PaperContext) => {
        const name = idempotencyKey(c);
        const { path, alt, received } = await receiveUpload(c, app.store.media.folder);
        const given = { ...(alt === null ? {} : { alt }) };
        const media = await keepUpload(app, path, received, (found) =>
          requireFree(archiveOf(app, c).media(path), found),
        );
        const asked = createHash('sha256').update(
          JSON.stringify([c.req.method, c.req.path, path, alt, received.digest]),
        );
        return write(
          writer,
          c,
          () => {
            const before = archiveOf(app, c).media(path);
            requireFree(before, media);
            const { missing: _missing, ...known } = before ?? media;
            const body = { ...known, ...given };
            const done = putRecord(app, c, { kind: 'media', name: path, body }, mediaRow(body, c.get('site').root));
            return { ...done, status: before === null ? 201 : 200 };
          },
          { addressOf: ({ path: at }) => `media/${at}`, named: { name, request: asked.digest('hex') } },
        );
      },
    },
    list: operationsUnder('Desk')(list, (c) => {
      const { limit, cursor } = c.req.valid('query');
      const [after = ''] = readCursor(MediaCursor, cursor);
      const { slug, root } = c.get('site');
      const all = app.store.desk.allMedia(slug).filter(({ path }) => path > after);
      const { rows, next } = pageOf(all.slice(0, limit + 1), limit, ({ path }) => cursorOf([path]));
      const uses = mediaUses(
        archiveOf(app, c),
        app.store.desk.pieces.withMedia(slug),
        rows.map(({ path }) => path),
      );
      const shown = rows.map((media) => ({ ...mediaRow(media, root), used_by: uses.get(media.path) ?? [] }));
      return reply(listOf(c, 'media', shown, next), { page: { limit, cursor } });
    }),
    remove: {
      spec: remove,
      readsItself: true as const,
      handle: (c: PaperContext) => {
        const asked = c.req.param('path') ?? '';
        return write(writer, c, () => {
          const archive = archiveOf(app, c);
          const path = [asked, `media/${asked}`].find((one) => archive.media(one) !== null);
          if (path === undefined) {
            throw new Fault(
              'not_found',
              `this paper has no media file ${JSON.stringify(asked.slice(0, 200))}; GET /api/v1/media lists them`,
            );
          }
          const uses = mediaUses(archive, app.store.desk.pieces.withMedia(c.get('site').slug), [path]).get(path) ?? [];
          const inUse = uses.filter(isShownUse);
          if (inUse.length > 0) {
            const named = inUse.slice(0, 5).map(({ kind, name }) => `${kind} ${name}`);
            const more = inUse.length > named.length ? ', …' : '';
            throw new Fault(
              'conflict',
              `${path} is used by ${named.join(', ')}${more}; have them use another file, or withdraw them first`,
            );
          }
          return putRecord(app, c, { kind: 'media', name: path, body: null }, { path, removed: true as const });
        });
      },
    },
  };
}

/** Throws `conflict` where a path has other bytes: a picture of a piece on air is not changed behind its back. */
function requireFree(before: Media | null, media: Media): void {
  if (before === null || before.digest === media.digest) return;
  throw new Fault(
    'conflict',
    `this paper has another file at ${media.path}; upload it under another path, or have that one removed first`,
  );
}
