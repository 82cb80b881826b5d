import { z } from '@hono/zod-openapi';
import type { AppContext } from '../../../src/app/context.ts';
import { SEARCH_ROWS, searchTerms } from '../../../src/desk/search.ts';
import { StoryRow, storyRow } from '../../../src/desk/story.ts';
import { faults, ok } from '../../openapi/responses.ts';
import { cached } from '../../responses/reply.ts';
import { archiveOf, linksFor } from '../context.ts';
import { listOf } from '../list.ts';
import type { PaperRoutes } from '../router.ts';
import { operation } from '../router.ts';

const search = operation({
  operationId: 'search',
  tags: ['Reading'],
  summary: 'Pieces on air that hold all of up to four terms, newest first',
  description:
    'A term matches whole words and the beginnings of words in headline, dek and prose, whatever their case and accents. Quotes, stars, hyphens and colons are plain text.',
  request: {
    query: z.object({
      q: z.string('must be one to four terms, as in ?q=leap+second').openapi({
        description: 'One to four terms, 1 to 120 characters.',
        minLength: 1,
        maxLength: 120,
        example: 'leap second',
      }),
    }),
  },
  responses: {
    200: ok(
      z
        .object({
          desk: z.string(),
          nameplate: z.string(),
          q: z.string().openapi({ description: 'What was searched for.' }),
          count: z.int().min(0),
          stories: z.array(StoryRow).max(SEARCH_ROWS),
          next_cursor: z.null(),
        })
        .openapi('SearchResult'),
      'Newest first.',
    ),
    ...faults(),
  },
});

/** Full-text search over the pieces on air. */
export function searchRoutes(routes: PaperRoutes, app: AppContext): void {
  routes.operation(search, (c) => {
    const { q } = c.req.valid('query');
    const terms = searchTerms(q);
    const asked = q.trim();
    return cached(`search ${asked}`, () => {
      const links = linksFor(app, c);
      const archive = archiveOf(app, c);
      const rowOf = (id: string) => {
        const row = archive.row(id);
        return row === null ? null : storyRow(row, links);
      };
      // Queries rarely repeat, but the pieces that they find do.
      const rows = archive.search(terms, SEARCH_ROWS).map((id) => routes.responses.row(c, id, () => rowOf(id)));
      return {
        q: asked,
        ...listOf(
          c,
          'stories',
          rows.filter((row) => row !== null),
        ),
        next_cursor: null,
      };
    });
  });
}
