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
