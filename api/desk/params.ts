import { z } from '@hono/zod-openapi';
import { isDay } from '../../src/time.ts';
import { cursorOf } from '../responses/paging.ts';

export const idParam = z.object({
  id: z
    .string()
    .openapi({ param: { name: 'id', in: 'path' }, description: 'A piece’s id or its slug.', example: 'year-2038' }),
});

/** A day in the path. */
export const dayParam = (description: string) =>
  z.object({
    day: z
      .string()
      .refine(isDay, 'must be a day of the calendar, as in 2026-11-20')
      .openapi({ param: { name: 'day', in: 'path' }, description, format: 'date', example: '2026-11-20' }),
  });

/** The cursor of a list in the order of its ids, names or paths. */
export const IdCursor = z.tuple([z.string().max(40)]);

/** The cursor of a list of pieces on air. */
export const AirCursor = z.tuple([z.number().int().min(-8.64e15).max(8.64e15), z.string().max(40)]);

export const airCursor = ({ published_at, id }: { published_at: number; id: string }): string =>
  cursorOf([published_at, id]);
