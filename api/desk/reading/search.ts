import type { BlockList } from 'node:net';
import { z } from '@hono/zod-openapi';
import { sectionSlug } from '../../../src/desk/papers/paper.ts';
import { linksOf, thumbnailOf } from '../../../src/desk/press/outputs/frame.ts';
import { matchExpression, SEARCH_ROWS, type SearchFilter, searchTerms } from '../../../src/desk/search.ts';
import { StoryRow, storyRow } from '../../../src/desk/story.ts';
import { paperRemoved } from '../../../src/desk/withdrawal.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Busy, Fault } from '../../../src/shared/fault.ts';
import type { PaperContext } from '../../env.ts';
import { callerOf } from '../../middleware/caller.ts';
import { admit, notFound } from '../../middleware/key.ts';
import { ok } from '../../openapi/responses.ts';
import { archiveOf, editionOf } from '../context.ts';
import type { PaperResponses } from '../paper-responses.ts';
import { operationsUnder } from '../route.ts';
import type { Sites } from '../site.ts';

const FoundStory = StoryRow.extend({
  thumbnail: z.url().nullable().meta({
    description: 'The story’s own art in a small size, usually a WebP of 400 pixels; null when it has none.',
  }),
}).meta({ id: 'FoundStory', description: 'A story as a search lists it.' });

export const SearchResult = z
  .object({
    desk: z.string(),
    nameplate: z.string(),
    q: z.string().openapi({ description: 'What was searched for.' }),
    count: z.int().min(0),
    stories: z.array(FoundStory).max(SEARCH_ROWS),
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
      section: z
        .string()
        .optional()
        .openapi({ description: 'Only pieces of this section: its name or its slug.', example: 'time' }),
      year: z
        .string()
        .regex(/^\d{4}$/, 'must be a year of four digits, as in year=2026')
        .transform(Number)
        .optional()
        .openapi({ description: 'Only pieces that first went on air in this year, by UTC.', example: '2026' }),
    }),
  },
  responses: {
    200: ok(SearchResult, 'Newest first.'),
  },
};

/** Full-text search over the pieces on air. `sites` finds the paper again when the search ends. */
export function searchStories({ app, sites, proxies, responses }: Asked) {
  return operationsUnder('Reading')(search, async (c) => {
    const { q, section: named, year } = c.req.valid('query');
    const asked = q.trim();
    const terms = searchTerms(asked);
    const section = named === undefined ? undefined : sectionNamed(c.get('site').paper.sections, named);
    const ids =
      terms.length === 0 ? [] : await foundNow(c, { app, sites, proxies }, { terms, filter: { section, year } });
    const archive = archiveOf(app, c);
    const edition = editionOf(app, c);
    const links = linksOf(edition);
    // Other responses cache the same pieces without thumbnails.
    const keys = ids.map((id) => `${FOUND}${id}`);
    const rows = responses.rows(c, keys, (key) => {
      const row = archive.row(key.slice(FOUND.length));
      return row === null ? null : { ...storyRow(row, links), thumbnail: thumbnailOf(edition, row) };
    });
    const { slug, paper } = c.get('site');
    const head = JSON.stringify({ q: asked, desk: slug, nameplate: paper.nameplate, count: rows.length });
    return responses.once(c, `${head.slice(0, -1)},"stories":[${rows.join(',')}],"next_cursor":null}`);
  });
}

const FOUND = 'found ';

type Asked = { app: AppContext; sites: Sites; proxies: BlockList; responses: PaperResponses };

/** The name of a section that is given by its name or its slug. Throws `invalid_request` for any other. */
function sectionNamed(sections: readonly string[], named: string): string {
  const found = sections.find((name) => name === named || sectionSlug(name) === named);
  if (found !== undefined) return found;
  const shown = JSON.stringify([...named].slice(0, 40).join('').toWellFormed());
  throw new Fault('invalid_request', `section: ${shown}: must be a section of this paper: ${sections.join(', ')}`, {
    field: 'section',
  });
}

/** Ids of the pieces that match in the newest edition. Throws if the caller may no longer see the paper. */
async function foundNow(
  c: PaperContext,
  { app, sites, proxies }: Omit<Asked, 'responses'>,
  { terms, filter }: { terms: string[]; filter: SearchFilter },
): Promise<string[]> {
  const { slug, path } = c.get('site');
  const question = { paper: slug, match: matchExpression(slug, terms), filter };
  const caller = c.get('key')?.id ?? callerOf(c.env, proxies);
  const since = performance.now();
  for (;;) {
    const { edition, ids } = await app.store.searchPool.ask(question, caller, since);
    const site = sites.again(c.req.raw, c.env);
    if (site !== null && site.slug !== slug)
      throw new Busy('this address now belongs to another paper; send the request again');
    // The paper has moved to another address.
    if (site?.path !== path) throw notFound();
    if (site?.removed !== undefined) throw paperRemoved(slug, site.removed.at);
    admit(c, site, app);
    if (edition === c.get('site').paper.edition) return ids;
  }
}
