import { z } from '@hono/zod-openapi';
import { CastRow, castRow } from '../../../src/desk/papers/cast.ts';
import { Front, frontOf, MastheadRow, mastheadRow, placed, RAIL_MAX } from '../../../src/desk/papers/front.ts';
import { PostRow, postRow } from '../../../src/desk/papers/post.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { ok } from '../../openapi/responses.ts';
import { cursorParam, limitParam, pageOf } from '../../responses/paging.ts';
import { cached } from '../../responses/reply.ts';
import { archiveOf, linksFor } from '../context.ts';
import { airCursor, airPosition, listOf, listSchema, operationsUnder } from '../route.ts';

const operation = operationsUnder('Reading');

const front = {
  operationId: 'readFront',
  summary: 'The front page as data; the same as /front.json',
  responses: { 200: ok(Front, 'The front page.') },
};

const cast = {
  operationId: 'listCast',
  summary: 'The editions to watch or to hear, newest first',
  responses: { 200: ok(listSchema('CastList', 'cast', CastRow), 'Every day that has one.') },
};

const masthead = {
  operationId: 'listMasthead',
  summary: 'The active personas of the desk',
  responses: { 200: ok(listSchema('Masthead', 'masthead', MastheadRow), 'The personas, by name.') },
};

const posts = {
  operationId: 'listPosts',
  summary: 'The newest pieces as short posts',
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
  responses: { 200: ok(listSchema('PostList', 'posts', PostRow), 'Newest first.') },
};

/** The front page, the newsroom, and the posts for other channels. */
export function newsroomHandlers(app: AppContext) {
  return {
    front: operation(front, (c) =>
      cached(
        'front',
        () => {
          const archive = archiveOf(app, c);
          const newest = (section: string) => archive.list('section', section).newest(RAIL_MAX);
          const { paper } = c.get('site');
          const placement = placed(archive.placement(), archive.storyById);
          return frontOf(paper, paper, archive.masthead(), newest, placement, linksFor(app, c));
        },
        // The same bytes as the static file, which ends with a newline.
        { stringify: (front) => `${JSON.stringify(front)}\n` },
      ),
    ),
    cast: operation(cast, (c) =>
      cached('cast', () => {
        const casts = archiveOf(app, c).casts();
        const shown = casts.map((row) => castRow(row, c.get('site').root));
        return listOf(c, 'cast', shown);
      }),
    ),
    masthead: operation(masthead, (c) =>
      cached('masthead', () => {
        const [personas, links] = [archiveOf(app, c).masthead(), linksFor(app, c)];
        const shown = personas.map((row) => mastheadRow(row, links));
        return listOf(c, 'masthead', shown);
      }),
    ),
    posts: operation(posts, (c) => {
      const { limit, since, cursor } = c.req.valid('query');
      const after = airPosition(cursor);
      const make = () => {
        const from = since === undefined ? undefined : Date.parse(since) + 1;
        const found = archiveOf(app, c).latest({ limit: limit + 1, since: from, after });
        const { rows, next } = pageOf(found, limit, airCursor);
        const links = linksFor(app, c);
        const shown = rows.map((row) => postRow(row, links));
        return listOf(c, 'posts', shown, next);
      };
      return cached('posts', make, { page: { limit, since, cursor } });
    }),
  };
}
