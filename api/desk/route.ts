import { z } from '@hono/zod-openapi';
import type { Level } from '../../src/desk/keys.ts';

/** Open to all; a key reads its own desk, private papers included. */
export const PUBLIC: Record<string, string[]>[] = [{}, { bearer: [] }, { header: [] }];
/** Wants a key that reaches a level; the roles of OpenAPI's security requirements name it. */
export function keyed(level: Level): Record<string, string[]>[] {
  return [{ bearer: [level] }, { header: [level] }];
}
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
