/** The inputs, besides the path, that decide the headers of a paper's files. */
export interface HeaderContext {
  /** Absolute root address of the paper, without a trailing slash. */
  root: string;
  /** Hashes of the inline scripts of embeddable cards, such as `sha256-…`. */
  embed_scripts: readonly string[];
  /** Address of the paper's analytics script. Pages may load it and call its host, and nothing else elsewhere. */
  analytics?: string | undefined;
}

/** Groups of files with the same security and cache headers. */
type Area = 'page' | 'embed' | 'asset' | 'media';

/**
 * Path patterns under a paper's root, and the area of each: `:x` is one segment, a trailing `*` any rest. No path
 * matches two patterns. Static hosts join the values when two rules set the same header, and a joined
 * Content-Security-Policy would apply the restrictions of both rules.
 */
export const AREAS: readonly (readonly [string, Area])[] = [
  ['/', 'page'],
  ['/index.html', 'page'],
  ['/404.html', 'page'],
  ['/stories/*', 'page'],
  ['/sections/*', 'page'],
  ['/days/*', 'page'],
  ['/tags/*', 'page'],
  ['/masthead/*', 'page'],
  ['/cast/', 'page'],
  ['/cast/:day/', 'page'],
  ['/cast/:day/embed/', 'embed'],
  ['/search/*', 'page'],
  ['/subscribe/*', 'page'],
  ['/corrections/*', 'page'],
  ['/standards/*', 'page'],
  ['/agents/*', 'page'],
  ['/embed/*', 'embed'],
  ['/_astro/*', 'asset'],
  ['/cards/*', 'asset'],
  ['/pictures/*', 'asset'],
  ['/icons/*', 'asset'],
  ['/media/*', 'media'],
  ['/portraits/*', 'media'],
  ['/favicon.svg', 'media'],
  ['/favicon.ico', 'media'],
  ['/manifest.webmanifest', 'page'],
  ['/hue.css', 'page'],
  ['/style.css', 'page'],
  ['/rss.xml', 'page'],
  ['/feed.json', 'page'],
  ['/podcast.xml', 'page'],
  ['/front.json', 'page'],
  ['/llms.txt', 'page'],
  ['/robots.txt', 'page'],
  ['/sitemap.xml', 'page'],
  ['/sitemap-news.xml', 'page'],
  ['/sitemaps/*', 'page'],
  ['/.well-known/*', 'page'],
];

/** Paths that other origins may read: feeds, Markdown, keys, cards, pictures. None depends on the reader. */
export const OPEN: readonly string[] = [
  '/rss.xml',
  '/feed.json',
  '/podcast.xml',
  '/front.json',
  '/llms.txt',
  '/sitemap.xml',
  '/sitemap-news.xml',
  '/sitemaps/*',
  '/.well-known/*',
  '/stories/*',
  '/sections/:section/rss.xml',
  '/tags/:tag/rss.xml',
  '/masthead/:persona/rss.xml',
  '/agents/SKILL.md',
  '/embed/*',
  '/cast/:day/embed/',
  '/cards/*',
  '/pictures/*',
  '/media/*',
  '/portraits/*',
];

/** The CORS headers of these paths: scripts may read them and revalidate by ETag. */
export const OPEN_HEADERS = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': 'ETag' };

/** Content types that hosts guess wrong or send without a charset. */
export const TYPES: readonly (readonly [string, string])[] = [
  ['/rss.xml', 'application/rss+xml; charset=utf-8'],
  ['/sections/:section/rss.xml', 'application/rss+xml; charset=utf-8'],
  ['/tags/:tag/rss.xml', 'application/rss+xml; charset=utf-8'],
  ['/masthead/:persona/rss.xml', 'application/rss+xml; charset=utf-8'],
  ['/podcast.xml', 'application/rss+xml; charset=utf-8'],
  ['/feed.json', 'application/feed+json; charset=utf-8'],
  ['/manifest.webmanifest', 'application/manifest+json; charset=utf-8'],
  ['/llms.txt', 'text/plain; charset=utf-8'],
  ['/robots.txt', 'text/plain; charset=utf-8'],
  ['/agents/SKILL.md', 'text/markdown; charset=utf-8'],
  ['/.well-known/security.txt', 'text/plain; charset=utf-8'],
  ['/.well-known/newsdesk-keys.json', 'application/json; charset=utf-8'],
];

/** The two addresses of the front page, where programs look for a link to the API. */
export const FRONT: readonly string[] = ['/', '/index.html'];

/** Links to the API catalog of the paper (RFC 9727, section 3). */
export function frontHeaders({ root }: HeaderContext): Record<string, string> {
  return { Link: `<${root}/.well-known/api-catalog>; rel="api-catalog"` };
}

function pageCsp(analytics: string | undefined): string {
  const origin = analytics === undefined ? '' : ` ${new URL(analytics).origin}`;
  return (
    "default-src 'none'; img-src 'self' data:; media-src 'self'; font-src 'self'; style-src 'self'; " +
    `script-src 'self'${origin}; connect-src 'self'${origin}; manifest-src 'self'; ` +
    "form-action 'self'; base-uri 'none'; frame-src 'self'; frame-ancestors 'none'"
  );
}

/** An SVG opened directly is a document: the sandbox runs no scripts and gives it an opaque origin. */
const MEDIA_CSP =
  "default-src 'none'; img-src 'self' data:; media-src 'self'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'";

function embedCsp(scripts: readonly string[]): string {
  const sources = scripts.length === 0 ? "'none'" : scripts.map((hash) => `'${hash}'`).join(' ');
  return (
    `default-src 'none'; img-src 'self'; media-src 'self'; style-src 'self' 'unsafe-inline'; script-src ${sources}; ` +
    "form-action 'none'; base-uri 'none'; frame-ancestors *"
  );
}

/** Headers of every file. Strict-Transport-Security is sent only for https roots. */
export function everywhere({ root }: HeaderContext): Record<string, string> {
  return {
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'strict-origin-when-cross-origin',
    'Permissions-Policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=(), browsing-topics=()',
    ...(root.startsWith('https:') ? { 'Strict-Transport-Security': 'max-age=31536000' } : {}),
  };
}

/** Headers of an area. Other origins may embed pictures and cards, but must not frame pages. */
export function areaHeaders(area: Area, { embed_scripts, analytics }: HeaderContext): Record<string, string> {
  const csp = area === 'embed' ? embedCsp(embed_scripts) : area === 'media' ? MEDIA_CSP : pageCsp(analytics);
  return {
    'Content-Security-Policy': csp,
    'Cross-Origin-Resource-Policy': area === 'page' ? 'same-origin' : 'cross-origin',
  };
}

/**
 * How long caches may keep an area's files. Asset names depend on their content; media keep their names when
 * replaced.
 */
export function areaCache(area: Area): string {
  if (area === 'asset') return 'public, max-age=31536000, immutable';
  if (area === 'media') return 'public, max-age=3600, stale-while-revalidate=86400';
  return 'public, max-age=0, s-maxage=60, stale-while-revalidate=60';
}
