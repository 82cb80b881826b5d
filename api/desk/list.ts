import { z } from '@hono/zod-openapi';

/** The envelope of a list (wire.md, section 3), with what else the answer says. */
export function listSchema<Name extends string, T extends z.ZodType, More extends z.ZodRawShape = Record<never, never>>(
  id: string,
  name: Name,
  row: T,
  more?: More,
) {
  const head = {
    desk: z.string().openapi({ description: 'The paper’s slug.' }),
    nameplate: z.string(),
    count: z.int().min(0).openapi({ description: 'Rows in this answer.' }),
  };
  const rows = { [name]: z.array(row) } as Record<Name, z.ZodArray<T>>;
  const next_cursor = z.string().nullable().openapi({ description: 'Where the list goes on, or null.' });
  return z.object({ ...head, ...rows, next_cursor, ...more }).openapi(id);
}
