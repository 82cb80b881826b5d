import { createRoute, z } from '@hono/zod-openapi';
import { Fault } from '../../src/fault.ts';
import { needs } from '../middleware/key.ts';
import { faults, ok } from '../openapi/responses.ts';
import type { Doors } from './doors.ts';
import { register } from './doors.ts';
import { keyed } from './route.ts';

const ask = createRoute({
  method: 'get',
  path: '/api/v1/press/{ticket}',
  operationId: 'askPress',
  tags: ['Writing'],
  summary: 'Whether the files of a write are on disk',
  description: 'The address is the one that a write gave as `pressing`.',
  security: keyed('read'),
  middleware: [needs('read')] as const,
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
});

/** How far the press has come. */
export function pressDoor(doors: Doors): void {
  register(doors, ask, (c) => {
    const ticket = Number(c.req.valid('param').ticket);
    const { slug, root } = c.get('site');
    const { manifest } = doors.app.store;
    // Numbers are given in order, and one that was given is marked until it is pressed.
    if (ticket === 0 || ticket > manifest.highestMark(slug)) {
      throw new Fault('not_found', `no write of this paper gave ${root}/api/v1/press/${ticket}; ask where one said`);
    }
    return { pressed: manifest.isPressed(slug, ticket) };
  });
}
