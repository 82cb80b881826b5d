import { z } from '@hono/zod-openapi';
import type { FactQuery, FactRow } from '../../../src/desk/fact.ts';
import { CitingPiece, citingPiece, FactRecord, factDocumentOf, factRecord } from '../../../src/desk/fact-rows.ts';
import { requireFact } from '../../../src/desk/recording-facts.ts';
import { searchTerms } from '../../../src/desk/search.ts';
import { FACT_STATUSES } from '../../../src/proof/fact-note.ts';
import type { AppContext } from '../../../src/server/context.ts';
import type { PaperContext } from '../../env.ts';
import { LogProofBody, ok } from '../../openapi/responses.ts';
import { cursorOf, cursorParam, limitParam, pageOf, readCursor } from '../../responses/paging.ts';
import { cached, reply } from '../../responses/reply.ts';
import { archiveOf } from '../context.ts';
import { IdCursor, listOf, listSchema, operationsUnder, pathParam } from '../route.ts';

const operation = operationsUnder('Reading');

/** Copies, because schemas that were made before `@hono/zod-openapi` was loaded have no `openapi`. */
const Fact = FactRecord.clone();
export const Citing = CitingPiece.clone();

export const FactList = listSchema('FactList', 'facts', Fact);

export const keyParam = pathParam('claim_key', 'A fact’s key.', 'largest-signed-second');

const list = {
  operationId: 'listFacts',
  summary: 'The paper’s fact record, most recently recorded first',
  description:
    'Each fact in its newest version. Without a key, only facts that a piece on air cites; with one, all that the desk recorded.',
  request: {
    query: z.object({
      q: z.string().optional().openapi({
        description:
          'One to four words. Each must be a word, or the start of one, in the statement, the publisher, the document or the key.',
        maxLength: 120,
        example: 'second caesium',
      }),
      source: z.string().max(300).optional().openapi({ description: 'A publisher’s full name, in any case.' }),
      status: z
        .enum(FACT_STATUSES)
        .optional()
        .openapi({ description: 'Only facts whose newest version has this status.' }),
      limit: limitParam(50, 200),
      cursor: cursorParam,
    }),
  },
  responses: { 200: ok(FactList, 'The facts.') },
};

const one = {
  operationId: 'readFact',
  summary: 'A fact: its versions, each signed, and the pieces that cite it',
  description:
    'Versions are listed from the oldest, pieces from the newest; more pieces come with `cursor`. With a key, pieces that are not on air are listed too.',
  request: { params: keyParam, query: z.object({ limit: limitParam(100, 1_000), cursor: cursorParam }) },
  responses: {
    200: ok(
      z
        .object({
          desk: z.string().openapi({ description: 'The paper’s slug.' }),
          nameplate: z.string(),
          fact: Fact,
          versions: z.array(Fact),
          log: LogProofBody,
          clock: z
            .array(z.object({ note: z.string(), vkey: z.string() }))
            .optional()
            .openapi({
              description:
                'Signed corrections of a clock that ran ahead, where they cover a version: a later `signed_at` counts as their true time.',
            }),
          cited_by: z.array(Citing),
          keys_url: z.url().openapi({ description: 'The key document of the paper.' }),
          next_cursor: z
            .string()
            .nullable()
            .openapi({ description: 'The cursor of the next page of `cited_by`, or null.' }),
        })
        .openapi('FactWithCitations'),
      'The fact.',
    ),
  },
};

const RowCursor = z.tuple([z.int().min(1)]);

/** The fact record of a paper. Responses without a key depend only on the edition. */
export function factHandlers(app: AppContext) {
  const { log, clockCorrections } = app.store.database;
  return {
    list: operation(list, (c) => {
      const { q, source, status, limit, cursor } = c.req.valid('query');
      const terms = q === undefined ? undefined : searchTerms(q);
      const [after] = readCursor(RowCursor, cursor);
      const page = { q, source, status, limit, cursor };
      const isCited = c.get('key') === null;
      const make = () => pageOfFacts(app, c, { terms, source, status, after, limit, isCited });
      return isCited ? cached('facts', make, { page }) : reply(make(), { page });
    }),
    one: operation(one, (c) => {
      const { claim_key } = c.req.valid('param');
      const { limit, cursor } = c.req.valid('query');
      const [after] = readCursor(IdCursor, cursor);
      const page = { limit, cursor };
      const isDesk = c.get('key') !== null;
      const make = () => factOf(app, c, claim_key, { isDesk, after, limit });
      return isDesk
        ? reply(make(), { page })
        : cached(`fact ${claim_key} ${log.cosignedSize('desk')} ${clockCorrections()}`, make, { page });
    }),
  };
}

function pageOfFacts(app: AppContext, c: PaperContext, query: FactQuery) {
  const archive = archiveOf(app, c);
  const { limit, terms } = query;
  const found = terms?.length === 0 ? [] : archive.facts({ ...query, limit: limit + 1 });
  const { rows, next } = pageOf(found, limit, ({ id }) => cursorOf([id]));
  const shown = rows.map(({ claim_key }) => factRecord(archive, claim_key));
  return listOf(c, 'facts', shown, next);
}

/** Throws `not_found` for an unknown key, and without an own key for a fact that no piece on air cites. */
function factOf(
  app: AppContext,
  c: PaperContext,
  claim_key: string,
  { isDesk, after, limit }: { isDesk: boolean; after: string | undefined; limit: number },
) {
  const archive = archiveOf(app, c);
  const { slug, root, paper } = c.get('site');
  const found: FactRow | null = archive.fact(claim_key);
  const { version } = requireFact(slug, claim_key, isDesk || (found?.cited ?? 0) > 0 ? found : null);
  const citing = archive.citedBy(claim_key, isDesk ? 'desk' : 'on_air', { after, limit: limit + 1 });
  const { rows, next } = pageOf(citing, limit, ({ id }) => cursorOf([id]));
  return {
    ...{ desk: slug, nameplate: paper.nameplate, ...factDocumentOf(archive, claim_key) },
    cited_by: rows.map((row) => citingPiece(row, root, version)),
    keys_url: `${root}/.well-known/newsdesk-keys.json`,
    next_cursor: next,
  };
}
