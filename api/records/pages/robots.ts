import type { RecordsContext } from '../context.ts';

/** RFC 9309. Crawlers may read everything public but the results of searches. */
const ROBOTS = `User-agent: *
Disallow: /account
Disallow: /search
Disallow: /v1/
Allow: /
`;

/** `root` is the public address of the service. */
export const robots =
  (root: string) =>
  (c: RecordsContext): Response =>
    c.text(`${ROBOTS}\nSitemap: ${root}/sitemap.xml\n`, 200, {
      'Cache-Control': 'public, max-age=3600',
      'X-Content-Type-Options': 'nosniff',
    });
