import { PAPER } from './app-context.ts';
import type { S3Server } from './s3-server.ts';

/** Where a paper's objects are, below `site` in a bucket. */
export const PREFIX = `site/${PAPER}/`;
/** Addresses that only a server answers; and cards, which this press leaves to a later one. */
const LIVE = /^(?:api|oembed|subscribe|search|cards)\b/;

/** The keys of the files that a page links to within its paper. */
function linksIn(html: string, key: string): string[] {
  const base = new URL(`http://localhost:4321/${key.slice('site/'.length)}`);
  return [...html.matchAll(/\s(?:href|src)="([^"#]+)/g)]
    .map(([, link = '']) => new URL(link.replaceAll('&amp;', '&'), base))
    .filter(({ host, pathname }) => host === base.host && pathname.startsWith(`/${PAPER}/`))
    .map(({ pathname }) => decodeURIComponent(pathname).slice(PAPER.length + 2))
    .filter((path) => !LIVE.test(path))
    .map((path) => PREFIX + (path === '' || path.endsWith('/') ? `${path}index.html` : path));
}

/** Follows every link from the front of a published paper. Returns how many pages it reached, and the broken links. */
export function follow(store: S3Server): { reached: number; broken: string[] } {
  const broken: string[] = [];
  const reached = new Set([`${PREFIX}index.html`]);
  // The set grows during the loop.
  for (const key of reached) {
    if (!key.endsWith('.html')) continue;
    for (const link of linksIn(store.bytes(key) ?? '', key)) {
      if (store.objects.has(link)) reached.add(link);
      else broken.push(`${key} → ${link}`);
    }
  }
  return { reached: reached.size, broken };
}
