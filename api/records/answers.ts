import { z } from '@hono/zod-openapi';
import { nextLink } from '../responses/paging.ts';
import { representationOf } from '../responses/response-cache.ts';
import { privateJson } from '../responses/send.ts';
import { sendMade } from './public-answer.ts';
import type { RecordsContext, RecordsDoors } from './route.ts';

/** The envelope of a list (wire.md, section 5), with what else the answer says. */
export function listOf<T extends z.ZodType>(id: string, row: T, more: z.ZodRawShape = {}) {
  return z
    .object({
      ...more,
      items: z.array(row),
      total: z.int().min(0).openapi({ description: 'How many there are on all pages.' }),
      next_cursor: z.string().nullable().openapi({ description: 'Where the list goes on, or null.' }),
    })
    .openapi(id);
}

/** Sends a list that no cache may keep, with the way to its next page, which is asked for as this one was. */
export function sendList<T extends { next_cursor: string | null }>(
  { app }: Pick<RecordsDoors, 'app'>,
  c: RecordsContext,
  body: T,
): Response {
  const link = nextLink(`${app.settings.dataOrigin}${c.req.path}`, c.req.query(), body.next_cursor);
  return privateJson(c, body, 200, link === null ? {} : { Link: link });
}

/** Sends a JSON text that is the same for everybody. */
export function sendPublic(c: RecordsContext, text: string): Response {
  return sendMade(c, representationOf(text), { 'Content-Type': 'application/json' });
}
