import { z } from '@hono/zod-openapi';
import { CitedFactRow, findFacts, PIECES_READ } from '../../../src/desk/cited-facts.ts';
import { searchTerms } from '../../../src/desk/search.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { ok } from '../../openapi/responses.ts';
import { cursorParam, limitParam, nextLink } from '../../responses/paging.ts';
import { addressOf, type PaperResponses } from '../paper-responses.ts';
import { airCursor, airPosition, listOf, listSchema, operationsUnder } from '../route.ts';

export const CitedFactList = listSchema('CitedFactList', 'facts', CitedFactRow, {
  searched: z.int().min(0).openapi({ description: 'How many pieces this response searched.' }),
});

const list = {
  operationId: 'findCitedFacts',
  summary: 'Facts that pieces on air cite, the newest pieces first',
  description:
    'Searches the newest 200 pieces, then those before them with `cursor`, until `next_cursor` is null; a response may so have no rows and still a `next_cursor`. The facts of a piece stay together, so there may be a few more rows than `limit`. What a piece cites is what its desk filed: it is not checked here.',
  request: {
    query: z.object({
      q: z.string().optional().openapi({
        description:
          'One to four words. Each must be a word, or the start of one, in the statement, the publisher or the document.',
        maxLength: 120,
        example: 'second caesium',
      }),
      source: z.string().max(200).optional().openapi({ description: 'A publisher, or a part of its name.' }),
      limit: limitParam(30, 100),
      cursor: cursorParam,
    }),
  },
  responses: { 200: ok(CitedFactList, 'The facts, each with its piece.') },
};

/** Before every piece. */
const NEWEST = { published_at: Number.MAX_SAFE_INTEGER, id: '' };

/** Searches what pieces cite. */
export function citedFacts({ store }: Pick<AppContext, 'store'>, responses: PaperResponses) {
  return operationsUnder('Reading')(list, (c) => {
    const { q, source, limit, cursor } = c.req.valid('query');
    const words = q === undefined ? [] : searchTerms(q);
    const { slug, root } = c.get('site');
    const pieces = store.desk.pieces.citing(slug, airPosition(cursor) ?? NEWEST, PIECES_READ + 1);
    const found = findFacts(pieces, { words, source: source ?? null, limit, root });
    const next = found.last === null ? null : airCursor(found.last);
    const body = { ...listOf(c, 'facts', found.facts, next), searched: found.searched };
    const link = nextLink(addressOf(c), { q, source, limit, cursor }, next);
    return responses.once(c, { text: JSON.stringify(body), link });
  });
}
