import type { BlockList } from 'node:net';
import { z } from '@hono/zod-openapi';
import { matchExpression, SEARCH_ROWS, searchTerms } from '../../../src/desk/search.ts';
import { StoryRow, storyRow } from '../../../src/desk/story.ts';
import { paperRemoved } from '../../../src/desk/withdrawal.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Busy } from '../../../src/shared/fault.ts';
import type { PaperContext } from '../../env.ts';
import { callerOf } from '../../middleware/caller.ts';
import { admit, notFound } from '../../middleware/key.ts';
import { ok } from '../../openapi/responses.ts';
import { archiveOf, linksFor } from '../context.ts';
import type { PaperResponses } from '../paper-responses.ts';
import { operationsUnder } from '../route.ts';
import type { Sites } from '../site.ts';

export const SearchResult = z
  .object({
    desk: z.string(),
    nameplate: z.string(),
    q: z.string().openapi({ description: 'What was searched for.' }),
    count: z.int().min(0),
    stories: z.array(StoryRow).max(SEARCH_ROWS),
    next_cursor: z.null(),
  })
  .openapi('SearchResult');

const search = {
  operationId: 'search',
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
    200: ok(SearchResult, 'Newest first.'),
  },
};

/** Full-text search over the pieces on air. `sites` finds the paper again when the search ends. */
export function searchStories({ app, sites, proxies, responses }: Asked) {
  return operationsUnder('Reading')(search, async (c) => {
    const asked = c.req.valid('query').q.trim();
    const terms = searchTerms(asked);
    const ids = terms.length === 0 ? [] : await foundNow(c, { app, sites, proxies }, terms);
    const archive = archiveOf(app, c);
    const links = linksFor(app, c);
    const rows = responses.rows(c, ids, (id) => {
      const row = archive.row(id);
      return row === null ? null : storyRow(row, links);
    });
    const { slug, paper } = c.get('site');
    const head = JSON.stringify({ q: asked, desk: slug, nameplate: paper.nameplate, count: rows.length });
    return responses.once(c, `${head.slice(0, -1)},"stories":[${rows.join(',')}],"next_cursor":null}`);
  });
}

type Asked = { app: AppContext; sites: Sites; proxies: BlockList; responses: PaperResponses };

/** Ids of the pieces that match in the newest edition. Throws if the caller may no longer see the paper. */
async function foundNow(
  c: PaperContext,
  { app, sites, proxies }: Omit<Asked, 'responses'>,
  terms: string[],
): Promise<string[]> {
  const { slug, path } = c.get('site');
  const question = { paper: slug, match: matchExpression(slug, terms) };
  const caller = c.get('key')?.id ?? callerOf(c.env, proxies);
  const since = performance.now();
  for (;;) {
    const { edition, ids } = await app.store.searchPool.ask(question, caller, since);
    const site = sites.again(c.req.raw, c.env);
    if (site !== null && site.slug !== slug) throw new Busy('this address has become that of another paper; ask again');
    // Its paper has moved, and left nothing here.
    if (site?.path !== path) throw notFound();
    if (site?.removed !== undefined) throw paperRemoved(slug, site.removed.at);
    admit(c, site, app);
    if (edition === c.get('site').paper.edition) return ids;
  }
}
