import { z } from '@hono/zod-openapi';
import type { AppContext } from '../../../src/app/context.ts';
import { matchExpression, SEARCH_ROWS, searchTerms } from '../../../src/desk/search.ts';
import { StoryRow, storyRow } from '../../../src/desk/story.ts';
import type { PaperContext } from '../../env.ts';
import { admit } from '../../middleware/key.ts';
import { faults, ok } from '../../openapi/responses.ts';
import { JSON_TYPE } from '../../responses/send.ts';
import { archiveOf, linksFor } from '../context.ts';
import { paperRemoved } from '../files/removed-paper.ts';
import type { PaperRoutes } from '../router.ts';
import { operation } from '../router.ts';
import type { Sites } from '../site.ts';

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

/** Full-text search over the pieces on air. `sites` finds the paper once more when the search ends. */
export function searchRoutes(routes: PaperRoutes, app: AppContext, sites: Sites): void {
  routes.operation(search, async (c) => {
    const asked = c.req.valid('query').q.trim();
    const terms = searchTerms(asked);
    const name = `search ${asked}`;
    const known = routes.responses.cached(c, name, JSON_TYPE);
    if (known !== null) return known;
    const ids = terms.length === 0 ? [] : await idsNow(c, app, sites, terms);
    const archive = archiveOf(app, c);
    const links = linksFor(app, c);
    const rowOf = (id: string) => {
      const row = archive.row(id);
      return row === null ? null : storyRow(row, links);
    };
    const text = () => {
      // Queries rarely repeat, but the pieces that they find do.
      const rows = routes.responses.rows(c, ids, rowOf);
      const { slug, paper } = c.get('site');
      const head = JSON.stringify({ q: asked, desk: slug, nameplate: paper.nameplate, count: rows.length });
      return `${head.slice(0, -1)},"stories":[${rows.join()}],"next_cursor":null}`;
    };
    return routes.responses.text(c, name, text, JSON_TYPE);
  });
}

/**
 * Ids of the pieces that match, in the paper's newest edition: what was withdrawn while a thread searched is not among
 * them. Throws what a new request would be told, if the caller may no longer see the paper.
 */
async function idsNow(c: PaperContext, app: AppContext, sites: Sites, terms: string[]): Promise<string[]> {
  const { slug } = c.get('site');
  const question = { paper: slug, match: matchExpression(slug, terms), limit: SEARCH_ROWS };
  const since = performance.now();
  for (;;) {
    const { edition, ids } = await app.searchPool.ask(question, since);
    const site = sites.again(c.req.raw, c.env);
    if (site?.removed !== undefined) throw paperRemoved(slug, site.removed.at);
    admit(c, site, app);
    if (edition === c.get('site').paper.edition) return ids;
  }
}
