import { z } from '@hono/zod-openapi';
import { PlacementRow, placed, placementRow } from '../../../src/desk/front.ts';
import { FrontChange } from '../../../src/desk/placement.ts';
import { placeFront } from '../../../src/desk/placing.ts';
import { jsonBody } from '../../middleware/json-body.ts';
import { IDEMPOTENCY } from '../../openapi/idempotency.ts';
import { body, faults, ok } from '../../openapi/responses.ts';
import { archiveOf } from '../context.ts';
import { operation } from '../route.ts';
import { Pressing } from './filing.ts';
import type { Writer } from './write.ts';
import { write } from './write.ts';

const EXAMPLE = {
  lead: { story: 'what-the-second-is-now', until: '2030-01-01T06:00:00Z' },
  pins: ['the-longest-night'],
};

/** A copy, because a schema that was made before `@hono/zod-openapi` was loaded has no `openapi`. */
const Body = FrontChange.clone().openapi('FrontChange', { example: EXAMPLE });

const writeFront = {
  operationId: 'writeFront',
  tags: ['Desk'],
  summary: 'Place pieces on the front: the lead, and up to four beside it',
  description:
    'Pieces are named by id or slug. A scheduled piece takes its place when it goes on air. With `revision` a change that was made from an older placement is refused; an empty body changes nothing and answers the placement.',
  before: [jsonBody()],
  request: { headers: IDEMPOTENCY, body: body(Body) },
  responses: {
    200: ok(
      z.object({ placement: PlacementRow, ...Pressing }).openapi('PlacedFront'),
      'The placement as it is now, scheduled pieces included.',
    ),
    ...faults(409, 413, 415, 422),
  },
};

/** The editor's placement of the front. */
export function writeFrontOf(writer: Writer) {
  const { app } = writer;
  return operation(writeFront, (c) => {
    const change = c.req.valid('json');
    return write(writer, c, (key) => {
      const placement = placeFront(app.desk, c.get('site').slug, change, `key:${key.id}`);
      const shown = placed(placement, archiveOf(app, c).storyById, true);
      return { status: 200, body: { placement: placementRow(shown) }, isShown: true };
    });
  });
}
