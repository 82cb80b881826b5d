import { z } from '@hono/zod-openapi';
import { type Change, factChange, pieceSubject } from '../../../src/desk/activity.ts';
import { citingPiece, FactRecord, factRecord } from '../../../src/desk/fact-rows.ts';
import { correctFact, FactOrder } from '../../../src/desk/recording-facts.ts';
import { deskOf } from '../../../src/server/context.ts';
import { jsonBody } from '../../middleware/json-body.ts';
import { body, faults, ok } from '../../openapi/responses.ts';
import { archiveOf } from '../context.ts';
import { Citing, keyParam } from '../reading/facts.ts';
import { operationsUnder, writes } from '../route.ts';
import { Pressing, requiresTerms, type Writer, write } from './write.ts';

/** A copy, because a schema that was made before `@hono/zod-openapi` was loaded has no `openapi`. */
const Body = FactOrder.clone().openapi('FactOrder');

export const Corrected = z
  .object({
    fact: FactRecord.clone(),
    cited_by: z.array(Citing).openapi({
      description: 'The pieces that cite an older version now, on air or not, the newest first, at most 1,000.',
    }),
    unscheduled: z.array(z.string()).openapi({
      description:
        'Slugs of pieces that are drafts again: scheduled ones that cite a retracted fact, or waited for its older source to be read.',
    }),
    ...Pressing,
  })
  .openapi('CorrectedFact');

const correct = writes({
  operationId: 'correctFact',
  summary: 'Correct or retract a fact: a new version, signed like the first',
  description:
    'What the body leaves out stays as it is. Pieces keep the version that they were filed with, and say on their pages what became of it; revise those that rest on it.',
  before: [jsonBody()],
  request: { params: keyParam, body: body(Body) },
  responses: { 200: ok(Corrected, 'The fact, and the pieces that cite an older version.'), ...faults(409) },
});

/** Corrections of facts. */
export function correctsFact(writer: Writer) {
  const { app } = writer;
  return operationsUnder('Writing')(
    correct,
    (c) => {
      const order = c.req.valid('json');
      const { claim_key } = c.req.valid('param');
      const { slug: paper, root } = c.get('site');
      return write(writer, c, (key) => {
        const by = `key:${key.id}`;
        const { fact, outdated, unscheduled } = correctFact(deskOf(app), paper, claim_key, { ...order, by });
        const shown = {
          fact: factRecord(archiveOf(app, c), claim_key),
          cited_by: outdated.map((row) => citingPiece(row, root, fact.version)),
          unscheduled: unscheduled.map(({ slug }) => slug),
        };
        const withdrawn = unscheduled.map(
          (piece): Change => ({
            action: 'piece.withdrawn',
            subject: pieceSubject(piece),
            detail: { reason: piece.reason },
          }),
        );
        return { status: 200, body: shown, isShown: fact.cited > 0, did: [factChange(fact), ...withdrawn] };
      });
    },
    requiresTerms(app),
  );
}
