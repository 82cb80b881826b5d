import type { RecordsDoors } from '../route.ts';

/** robots.txt (RFC 9309): what is public may be read by machines; searches and accounts are for people. */
const ROBOTS = `User-agent: *
Disallow: /account
Disallow: /search
Disallow: /v1/
Allow: /
`;

/** What crawlers are asked. */
export function robotsDoor({ router }: Pick<RecordsDoors, 'router'>): void {
  router.get('/robots.txt', (c) =>
    c.text(ROBOTS, 200, { 'Cache-Control': 'public, max-age=3600', 'X-Content-Type-Options': 'nosniff' }),
  );
}
