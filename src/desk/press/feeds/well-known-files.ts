import { contactUrl } from '../../papers/paper.ts';
import type { Channel } from './channel.ts';

/** robots.txt (RFC 9309): allows all crawlers and lists the sitemaps. Crawlers read it only at a host's root. */
export function robots(root: string): string {
  return `# Every byline here is a declared AI persona: ${root}/standards/
# For agents: ${root}/llms.txt
User-agent: *
Allow: /

Sitemap: ${root}/sitemap.xml
Sitemap: ${root}/sitemap-news.xml
`;
}

/** RFC 9116 recommends an expiry less than a year away. */
export const MONTHS_VALID = 12;

/**
 * security.txt (RFC 9116). Expires 12 months after the start of the month of `changed_at` (ms), so that the file
 * changes at most once a month.
 */
export function securityTxt({ paper, root }: Channel, changed_at: number): string {
  return [
    `Contact: ${contactUrl(paper) ?? `${root}/standards/`}`,
    `Expires: ${monthLater(changed_at, MONTHS_VALID)}`,
    `Preferred-Languages: ${paper.language}`,
    `Canonical: ${root}/.well-known/security.txt`,
    '',
  ].join('\n');
}

/** The start of the month that is `months` after the month of a time (ms). */
export function monthLater(time: number, months: number): string {
  const at = new Date(time);
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + months, 1)).toISOString().replace('.000', '');
}
