import type { Context } from 'hono';
import { accepts } from 'hono/accepts';

/** Whether a caller would rather have a fault as a record than as a page; who says nothing takes the page. */
export function wantsRecord(c: Context): boolean {
  const supports = ['text/html', 'application/json', 'application/problem+json'];
  return accepts(c, { header: 'Accept', supports, default: 'text/html' }) !== 'text/html';
}
