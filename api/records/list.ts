import { z } from '@hono/zod-openapi';

/** The schema of a list (protocol 8.3); `more` are members beside its rows. */
export function listOf<T extends z.ZodType, M extends z.ZodRawShape = Record<never, never>>(
  id: string,
  row: T,
  more?: M,
) {
  return z
    .object({
      ...(more as M),
      items: z.array(row),
      total: z.int().min(0).openapi({ description: 'How many rows there are on all pages.' }),
      next_cursor: z.string().nullable().openapi({ description: 'The cursor of the next page; null on the last one.' }),
    })
    .openapi(id);
}
