import type { Context } from 'hono';

/** What is the same for everybody: a shared cache may hold it for a minute, and asks again. */
export const PUBLIC = 'public, max-age=0, s-maxage=60, stale-while-revalidate=60';
/** What one caller may see is in nobody's cache. */
export const PRIVATE = 'private, no-store';

/** Sends JSON that no cache may keep. */
export function privateJson(c: Context, body: unknown, status: 200 | 201 | 202 = 200): Response {
  return c.json(body as object, status, { 'Cache-Control': PRIVATE, 'X-Content-Type-Options': 'nosniff' });
}
