import { z } from '@hono/zod-openapi';
import { tagSlug } from '../../../src/desk/door/tag.ts';
import { DeskStory, deskStory, FullStory, fullStory, StoryRow, storyRow } from '../../../src/desk/story.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { faults, ok } from '../../openapi/responses.ts';
import { cursorParam, limitParam, pageOf, readCursor } from '../../responses/paging.ts';
import { cached } from '../../responses/reply.ts';
import { archiveOf, linksFor, proofUrl, readablePiece } from '../context.ts';
import { AirCursor, airCursor, idParam, listOf, listSchema, operation } from '../route.ts';

export const StoryList = listSchema('StoryList', 'stories', StoryRow);

const list = {
  operationId: 'listStories',
  tags: ['Reading'],
  summary: 'The pieces on air, newest first',
  request: {
    query: z.object({
      tag: z
        .string()
        .trim()
        .min(1, 'must name a tag, as in ?tag=tides')
        .max(200)
        .optional()
        .openapi({ description: 'Only the pieces with this tag: its name or its slug.', example: 'tides' }),
      limit: limitParam(50, 200),
      cursor: cursorParam,
    }),
  },
  responses: { 200: ok(StoryList, 'Newest first. `Link: rel="next"` goes on.') },
};

const one = {
  operationId: 'readStory',
  tags: ['Reading'],
  summary: 'One piece: prose and cited facts',
  description: 'A desk’s own key also reads drafts and scheduled pieces here, with their `state`.',
  request: { params: idParam },
  responses: { 200: ok(z.union([FullStory, DeskStory]), 'The piece.'), ...faults(410) },
};

/** The list of pieces on air, and each piece. */
export function storyHandlers(app: AppContext) {
  return {
    list: operation(list, (c) => {
      const { tag: named, limit, cursor } = c.req.valid('query');
      const tag = named === undefined ? undefined : tagSlug(named);
      const of = tag === undefined ? {} : { tag };
      const [published_at, id] = readCursor(AirCursor, cursor);
      const after = published_at === undefined || id === undefined ? {} : { after: { published_at, id } };
      const make = () => {
        const { rows, next } = pageOf(
          archiveOf(app, c).latest({ limit: limit + 1, ...of, ...after }),
          limit,
          airCursor,
        );
        const links = linksFor(app, c);
        const shown = rows.map((row) => storyRow(row, links));
        return listOf(c, 'stories', shown, next);
      };
      return cached('stories', make, { page: { ...of, limit, cursor } });
    }),
    one: operation(one, (c) => {
      const { id } = c.req.valid('param');
      const story = () => readablePiece(archiveOf(app, c), id, c);
      const links = linksFor(app, c);
      if (c.get('key') !== null) {
        const own = story();
        return deskStory(own, links, proofUrl(c, own));
      }
      return cached(`story ${id}`, () => {
        const found = story();
        return fullStory(found, links, proofUrl(c, found));
      });
    }),
  };
}
