import { createRoute, z } from '@hono/zod-openapi';
import { CastRow, castRow } from '../../src/desk/cast.ts';
import { Front, frontOf, MastheadRow, mastheadRow, RAIL_MAX } from '../../src/desk/front.ts';
import { PostRow, postRow } from '../../src/desk/post.ts';
import { faults, ok } from '../openapi/responses.ts';
import { cursorParam, limitParam, pageOf, readCursor } from '../responses/paging.ts';
import { cached } from '../responses/reply.ts';
import type { Doors } from './doors.ts';
import { archiveOf, linksFor, listOf, register } from './doors.ts';
import { AirCursor, airCursor } from './params.ts';
import { listSchema, PUBLIC } from './route.ts';

const front = createRoute({
  method: 'get',
  path: '/api/v1/front',
  operationId: 'readFront',
  tags: ['Reading'],
  summary: 'The front page as data; the same as /front.json',
  security: PUBLIC,
  responses: { 200: ok(Front, 'The front page.'), ...faults() },
});

const cast = createRoute({
  method: 'get',
  path: '/api/v1/cast',
  operationId: 'listCast',
  tags: ['Reading'],
  summary: 'The video editions, newest first',
  security: PUBLIC,
  responses: { 200: ok(listSchema('CastList', 'cast', CastRow), 'Every day that has one.'), ...faults() },
});

const masthead = createRoute({
  method: 'get',
  path: '/api/v1/masthead',
  operationId: 'listMasthead',
  tags: ['Reading'],
  summary: 'The active personas of the desk',
  security: PUBLIC,
  responses: { 200: ok(listSchema('Masthead', 'masthead', MastheadRow), 'The personas, by name.'), ...faults() },
});

const posts = createRoute({
  method: 'get',
  path: '/api/v1/posts',
  operationId: 'listPosts',
  tags: ['Reading'],
  summary: 'The newest pieces as short posts',
  security: PUBLIC,
  request: {
    query: z.object({
      limit: limitParam(20, 100),
      since: z.iso
        .datetime({ offset: true, error: 'must be a time such as 2026-11-20T06:30:00Z' })
        .optional()
        .openapi({ description: 'Only pieces that went on air after it.', format: 'date-time' }),
      cursor: cursorParam,
    }),
  },
  responses: { 200: ok(listSchema('PostList', 'posts', PostRow), 'Newest first.'), ...faults() },
});

/** The front page, the newsroom, and what goes out to other places. */
export function newsroomDoors(doors: Doors): void {
  register(doors, front, (c) =>
    cached(
      'front',
      () => {
        const archive = archiveOf(doors, c);
        const newest = (section: string) => archive.latest({ limit: RAIL_MAX, section });
        const { paper } = c.get('site');
        return frontOf(paper, paper, archive.masthead(), newest, linksFor(doors, c));
      },
      // The same bytes as the static file, which ends its line.
      { stringify: (front) => `${JSON.stringify(front)}\n` },
    ),
  );
  register(doors, cast, (c) =>
    cached('cast', () =>
      listOf(
        c,
        'cast',
        archiveOf(doors, c)
          .casts()
          .map((row) => castRow(row, c.get('site').root)),
      ),
    ),
  );
  register(doors, masthead, (c) =>
    cached('masthead', () => {
      const links = linksFor(doors, c);
      return listOf(
        c,
        'masthead',
        archiveOf(doors, c)
          .masthead()
          .map((row) => mastheadRow(row, links)),
      );
    }),
  );
  register(doors, posts, (c) => {
    const { limit, since, cursor } = c.req.valid('query');
    const [published_at, id] = readCursor(AirCursor, cursor);
    const query = {
      limit: limit + 1,
      ...(since === undefined ? {} : { since: Date.parse(since) + 1 }),
      ...(published_at === undefined || id === undefined ? {} : { after: { published_at, id } }),
    };
    const make = () => {
      const { rows, next } = pageOf(archiveOf(doors, c).latest(query), limit, airCursor);
      const links = linksFor(doors, c);
      const shown = rows.map((row) => postRow(row, links));
      return listOf(c, 'posts', shown, next);
    };
    return cached('posts', make, { page: { limit, since, cursor } });
  });
}
