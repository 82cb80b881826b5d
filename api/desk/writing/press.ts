import { z } from '@hono/zod-openapi';
import type { AppContext } from '../../../src/app/context.ts';
import { Fault } from '../../../src/fault.ts';
import { faults, ok } from '../../openapi/responses.ts';
import { operation } from '../route.ts';

const ask = {
  operationId: 'askPress',
  tags: ['Writing'],
  summary: 'Whether the files of a write are on disk',
  description: 'The address is the one that a write gave as `pressing`.',
  request: {
    params: z.object({
      ticket: z
        .string()
        .regex(/^\d{1,15}$/, 'must be the number that the write gave')
        .openapi({
          param: { name: 'ticket', in: 'path' },
          description: 'The number in the address that the write gave.',
          type: 'integer',
          example: 42,
        }),
    }),
  },
  responses: { 200: ok(z.object({ pressed: z.boolean() }), 'Whether they are.'), ...faults() },
};

/** The progress of the press. */
export function askPress(app: AppContext) {
  return operation(ask, (c) => {
    const ticket = Number(c.req.valid('param').ticket);
    const { slug, root } = c.get('site');
    const { manifest } = app.store;
    // Ticket numbers are sequential, and an issued one stays marked until it is pressed.
    if (ticket === 0 || ticket > manifest.highestMark(slug)) {
      throw new Fault('not_found', `no write of this paper gave ${root}/api/v1/press/${ticket}; ask where one said`);
    }
    return { pressed: manifest.isPressed(slug, ticket) };
  });
}
