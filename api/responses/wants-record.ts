import type { Context } from 'hono';
import { accepts } from 'hono/accepts';

/** Whether a caller prefers a fault as JSON to a page. Without `Accept` it gets a page. */
export function wantsRecord(c: Context): boolean {
  const supports = ['text/html', 'application/json', 'application/problem+json'];
  return accepts(c, { header: 'Accept', supports, default: 'text/html' }) !== 'text/html';
}
