import { z } from '@hono/zod-openapi';
import type { PaperContext } from '../env.ts';

/** The schema of a list (protocol 8.3), with additional members. */
export function listSchema<Name extends string, T extends z.ZodType, More extends z.ZodRawShape = Record<never, never>>(
  id: string,
  name: Name,
  row: T,
  more?: More,
) {
  const head = {
    desk: z.string().openapi({ description: 'The paper’s slug.' }),
    nameplate: z.string(),
    count: z.int().min(0).openapi({ description: 'Rows in this response.' }),
  };
  const next_cursor = z.string().nullable().openapi({ description: 'Where the list goes on, or null.' });
  return z.object({ ...head, ...under(name, z.array(row)), next_cursor, ...more }).openapi(id);
}

/** The members that every list has. */
export function listOf<Name extends string, T>(c: PaperContext, name: Name, rows: T[], next: string | null = null) {
  const { slug, paper } = c.get('site');
  return { desk: slug, nameplate: paper.nameplate, count: rows.length, ...under(name, rows), next_cursor: next };
}

/** An object with one member. TypeScript widens the type of a computed key. */
function under<Name extends string, T>(name: Name, value: T): Record<Name, T> {
  return { [name]: value } as Record<Name, T>;
}
