import { createRoute, z } from '@hono/zod-openapi';
import { DeskStory, deskStory, FullStory, fullStory, StoryRow, storyRow } from '../../src/desk/story.ts';
import { faults, ok } from '../openapi/responses.ts';
import { cursorParam, limitParam, pageOf, readCursor } from '../responses/paging.ts';
import { cached } from '../responses/reply.ts';
import type { Doors } from './doors.ts';
import { archiveOf, linksFor, listOf, proofUrl, readablePiece, register } from './doors.ts';
import { AirCursor, airCursor, idParam } from './params.ts';
import { listSchema, PUBLIC } from './route.ts';

export const StoryList = listSchema('StoryList', 'stories', StoryRow);

const list = createRoute({
  method: 'get',
  path: '/api/v1/stories',
  operationId: 'listStories',
  tags: ['Reading'],
  summary: 'The pieces on air, newest first',
  security: PUBLIC,
  request: { query: z.object({ limit: limitParam(50, 200), cursor: cursorParam }) },
  responses: { 200: ok(StoryList, 'Newest first. `Link: rel="next"` goes on.'), ...faults() },
});

const one = createRoute({
  method: 'get',
  path: '/api/v1/stories/{id}',
  operationId: 'readStory',
  tags: ['Reading'],
  summary: 'One piece: prose and cited facts',
  description: 'A desk’s own key also reads drafts and scheduled pieces here, with their `state`.',
  security: PUBLIC,
  request: { params: idParam },
  responses: { 200: ok(z.union([FullStory, DeskStory]), 'The piece.'), ...faults(410) },
});

/** The list of pieces on air, and each of them. */
export function storyDoors(doors: Doors): void {
  register(doors, list, (c) => {
    const { limit, cursor } = c.req.valid('query');
    const [published_at, id] = readCursor(AirCursor, cursor);
    const after = published_at === undefined || id === undefined ? {} : { after: { published_at, id } };
    const make = () => {
      const { rows, next } = pageOf(archiveOf(doors, c).latest({ limit: limit + 1, ...after }), limit, airCursor);
      const links = linksFor(doors, c);
      const shown = rows.map((row) => storyRow(row, links));
      return listOf(c, 'stories', shown, next);
    };
    return cached('stories', make, { page: { limit, cursor } });
  });
  register(doors, one, (c) => {
    const { id } = c.req.valid('param');
    const story = () => readablePiece(archiveOf(doors, c), id, c);
    const links = linksFor(doors, c);
    if (c.get('key') !== null) {
      const own = story();
      return deskStory(own, links, proofUrl(c, own));
    }
    return cached(`story ${id}`, () => {
      const found = story();
      return fullStory(found, links, proofUrl(c, found));
    });
  });
}
