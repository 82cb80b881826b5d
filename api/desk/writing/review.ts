import { z } from '@hono/zod-openapi';
import { reviewChange } from '../../../src/desk/activity.ts';
import { ReviewOrder, reviewStory } from '../../../src/desk/reviewing.ts';
import { DeskStory, deskStory } from '../../../src/desk/story.ts';
import { deskOf } from '../../../src/server/context.ts';
import { body, faults, ok } from '../../openapi/responses.ts';
import { archiveOf, linksFor, proofUrl, requirePiece } from '../context.ts';
import { idParam, operationsUnder, writes } from '../route.ts';
import { Pressing, type Writer, write } from './write.ts';

/** A copy, because a schema that was made before `@hono/zod-openapi` was loaded has no `openapi`. */
const Body = ReviewOrder.clone().openapi('ReviewOrder');

const decide = writes({
  operationId: 'reviewStory',
  summary: 'Approve the newest revision of a piece, or request changes',
  description:
    'An approval is signed, and stays: who approved, in which role, when. A piece that waited for it goes on air if its time has come. A request for changes is kept beside the piece until its next revision.',
  request: { params: idParam, body: body(Body) },
  responses: {
    200: ok(z.object({ story: DeskStory, ...Pressing }).openapi('Reviewed'), 'The piece with its review.'),
    ...faults(409),
  },
});

/** Decisions on what agents filed. */
export function decideReview(writer: Writer) {
  const { app } = writer;
  return operationsUnder('Writing')(decide, (c) => {
    const order = c.req.valid('json');
    const { id } = c.req.valid('param');
    return write(writer, c, (key) => {
      const before = requirePiece(archiveOf(app, c), id);
      const by = { made_by: `key:${key.id}`, name: key.name };
      const story = reviewStory(deskOf(app), c.get('site').slug, before, { ...order, by });
      const shown = { story: deskStory(story, linksFor(app, c), proofUrl(c, story)) };
      return { status: 200, body: shown, isShown: story.state === 'on_air', did: [reviewChange(story, order)] };
    });
  });
}
