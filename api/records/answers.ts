import { createHash } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import { matchesEtag } from '../responses/etag.ts';
import { privateJson } from '../responses/send.ts';
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

/** Sends a list that no cache may keep, with the way to its next page. */
export function sendList<T extends { next_cursor: string | null }>(
  { app }: Pick<RecordsDoors, 'app'>,
  c: RecordsContext,
  body: T,
): Response {
  if (body.next_cursor !== null) {
    // The next page is asked for as this one was.
    const query = new URLSearchParams(c.req.query());
    query.set('cursor', body.next_cursor);
    c.header('Link', `<${app.settings.dataOrigin}${c.req.path}?${query}>; rel="next"`);
  }
  return privateJson(c, body);
}

/** Takes the row too many off a page that was read with one more than asked for, and tells where the next begins. */
export function pageOf<T>(rows: T[], limit: number, cursorAt: (last: T) => string): { rows: T[]; next: string | null } {
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return { rows: rows.slice(0, limit), next: last === undefined ? null : cursorAt(last) };
}

const PUBLIC = 'public, max-age=0, s-maxage=60, stale-while-revalidate=60';

/** Sends a JSON text that is the same for everybody, with its mark (`ETag`). */
export function sendPublic(c: RecordsContext, text: string): Response {
  const mark = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
  const isKeyed = c.get('key') !== null;
  const headers = {
    'Content-Type': 'application/json',
    'X-Content-Type-Options': 'nosniff',
    ...(isKeyed ? { 'Cache-Control': 'private, no-store' } : { 'Cache-Control': PUBLIC, ETag: mark }),
    Vary: 'X-Service-Key',
  };
  if (!isKeyed && matchesEtag(c.req.header('if-none-match'), mark)) return c.body(null, 304, headers);
  return c.body(text, 200, headers);
}
