import { z } from '@hono/zod-openapi';
import type { Level } from '../../src/desk/keys.ts';

/** Open to all; a key reads its own desk, private papers included. */
export const PUBLIC: Record<string, string[]>[] = [{}, { bearer: [] }, { header: [] }];
/** Wants a key that reaches a level; the roles of OpenAPI's security requirements name it. */
export function keyed(level: Level): Record<string, string[]>[] {
  return [{ bearer: [level] }, { header: [level] }];
}
/** The envelope of a list (wire.md, section 3), with what else the answer says. */
export function listSchema<T extends z.ZodType>(id: string, name: string, row: T, more: z.ZodRawShape = {}) {
  return z
    .object({
      desk: z.string().openapi({ description: 'The paper’s slug.' }),
      nameplate: z.string(),
      count: z.int().min(0).openapi({ description: 'Rows in this answer.' }),
      [name]: z.array(row),
      next_cursor: z.string().nullable().openapi({ description: 'Where the list goes on, or null.' }),
      ...more,
    })
    .openapi(id);
}
