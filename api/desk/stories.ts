import { createRoute, z } from '@hono/zod-openapi';
import { DeskStory, deskStory, FullStory, fullStory, StoryRow, storyRow } from '../../src/desk/story.ts';
import { faults, ok } from '../openapi/responses.ts';
import { cursorOf, cursorParam, limitParam, readCursor } from '../responses/paging.ts';
import { privateJson } from '../responses/send.ts';
import type { Doors } from './doors.ts';
import { archiveOf, linksFor, listOf, proofUrl, readablePiece, register } from './doors.ts';
import { AirCursor, idParam } from './params.ts';
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
  const { shelf } = doors;
  register(doors, list, (c) => {
    const { limit, cursor } = c.req.valid('query');
    const [published_at, id] = cursor === undefined ? [] : readCursor(AirCursor, cursor);
    const after = published_at === undefined || id === undefined ? {} : { after: { published_at, id } };
    return shelf.list(c, { limit, cursor }, () => {
      // One more than asked tells whether the list goes on.
      const rows = archiveOf(doors, c).latest({ limit: limit + 1, ...after });
      const last = rows.length > limit ? rows[limit - 1] : undefined;
      const next = last === undefined ? null : cursorOf([last.published_at, last.id]);
      const links = linksFor(doors, c);
      return listOf(
        c,
        'stories',
        rows.slice(0, limit).map((row) => storyRow(row, links)),
        next,
      );
    });
  });
  register(doors, one, (c) => {
    const { id } = c.req.valid('param');
    const story = () => readablePiece(archiveOf(doors, c), id, c);
    const links = linksFor(doors, c);
    if (c.get('key') !== null) {
      const own = story();
      return privateJson(c, deskStory(own, links, proofUrl(c, own)));
    }
    return shelf.json(c, `story ${id}`, () => {
      const found = story();
      return fullStory(found, links, proofUrl(c, found));
    });
  });
}
