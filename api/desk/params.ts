import { z } from '@hono/zod-openapi';

export const idParam = z.object({
  id: z
    .string()
    .openapi({ param: { name: 'id', in: 'path' }, description: 'A piece’s id or its slug.', example: 'year-2038' }),
});

/** Where a list of pieces on air goes on. */
export const AirCursor = z.tuple([z.number().int().min(-8.64e15).max(8.64e15), z.string().max(40)]);
