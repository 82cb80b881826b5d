import type { RecordsContext } from '../context.ts';

/** RFC 9309. Crawlers may read everything public but the results of searches. */
const ROBOTS = `User-agent: *
Disallow: /account
Disallow: /search
Disallow: /v1/
Allow: /
`;

export function robots(c: RecordsContext): Response {
  return c.text(ROBOTS, 200, { 'Cache-Control': 'public, max-age=3600', 'X-Content-Type-Options': 'nosniff' });
}
