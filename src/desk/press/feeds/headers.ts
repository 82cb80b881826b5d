/** The inputs, besides the path, that decide the headers of a paper's files. */
export interface HeaderContext {
  root: string;
  /** Hashes of the inline scripts of embeddable cards, such as `sha256-…`. */
  embed_scripts: readonly string[];
  /** Address of the paper's analytics script, the only script and host outside the paper's own that pages may use. */
  analytics?: string | undefined;
}

/** Groups of files with the same security and cache headers. Cards that other origins frame load a `sheet` too. */
type Area = 'page' | 'embed' | 'sheet' | 'asset' | 'media' | 'source';

interface PathRule {
  area?: Area;
  /** Whether other origins may read these files: feeds, Markdown, keys, cards, pictures. None depends on the reader. */
  isOpen?: true;
  /** The content type, if hosts would guess a wrong one or send none with a charset. */
  type?: string;
}

const RSS = 'application/rss+xml; charset=utf-8';
const TEXT = 'text/plain; charset=utf-8';

/**
 * Path patterns under a paper's root: `:x` is one segment, a trailing `*` any rest. No path matches two patterns with
 * an area. Static hosts join the values when two rules set the same header, and a joined Content-Security-Policy would
 * apply the restrictions of both rules.
 */
export const PATHS: Readonly<Record<string, PathRule>> = {
  '/': { area: 'page' },
  '/index.html': { area: 'page' },
  '/404.html': { area: 'page' },
  '/stories/*': { area: 'page', isOpen: true },
  '/sections/*': { area: 'page' },
  '/days/*': { area: 'page' },
  '/tags/*': { area: 'page' },
  '/masthead/*': { area: 'page' },
  '/cast/': { area: 'page' },
  '/cast/:day/': { area: 'page' },
  '/cast/:day/chapters.json': { area: 'page', isOpen: true, type: 'application/json+chapters' },
  '/cast/:day/embed/': { area: 'embed', isOpen: true },
  '/search/*': { area: 'page' },
  '/subscribe/': { area: 'page' },
  '/subscribe/sample/': { area: 'embed' },
  '/corrections/*': { area: 'page' },
  '/facts/*': { area: 'page', isOpen: true },
  '/sources/*': { area: 'page' },
  '/standards/*': { area: 'page' },
  '/agents/*': { area: 'page' },
  '/embed/*': { area: 'embed', isOpen: true },
  '/_astro/*': { area: 'asset' },
  '/cards/*': { area: 'asset', isOpen: true },
  '/pictures/*': { area: 'asset', isOpen: true },
  '/icons/*': { area: 'asset' },
  '/media/*': { area: 'media', isOpen: true },
  '/portraits/*': { area: 'media', isOpen: true },
  '/evidence/*': { area: 'source', isOpen: true, type: TEXT },
  '/favicon.svg': { area: 'media' },
  '/favicon.ico': { area: 'media' },
  '/manifest.webmanifest': { area: 'page', type: 'application/manifest+json; charset=utf-8' },
  '/hue.css': { area: 'page' },
  '/alphabets.css': { area: 'sheet', isOpen: true },
  '/fonts.css': { area: 'page' },
  '/fonts/*': { area: 'media', isOpen: true },
  '/style.css': { area: 'page' },
  '/rss.xml': { area: 'page', isOpen: true, type: RSS },
  '/feed.json': { area: 'page', isOpen: true, type: 'application/feed+json; charset=utf-8' },
  '/podcast.xml': { area: 'page', isOpen: true, type: RSS },
  '/front.json': { area: 'page', isOpen: true },
  '/llms.txt': { area: 'page', isOpen: true, type: TEXT },
  '/robots.txt': { area: 'page', type: TEXT },
  '/sitemap.xml': { area: 'page', isOpen: true },
  '/sitemap-news.xml': { area: 'page', isOpen: true },
  '/sitemaps/*': { area: 'page', isOpen: true },
  '/.well-known/*': { area: 'page', isOpen: true },
  '/sections/:section/rss.xml': { isOpen: true, type: RSS },
  '/tags/:tag/rss.xml': { isOpen: true, type: RSS },
  '/masthead/:persona/rss.xml': { isOpen: true, type: RSS },
  '/corrections/rss.xml': { isOpen: true, type: RSS },
  '/agents/SKILL.md': { isOpen: true, type: 'text/markdown; charset=utf-8' },
  '/.well-known/security.txt': { type: TEXT },
  '/.well-known/newsdesk-keys.json': { type: 'application/json; charset=utf-8' },
};

/** The CORS headers of open paths: scripts may read them and revalidate by ETag. */
export const OPEN_HEADERS = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': 'ETag' };

/** Headers of the front page, where programs look for a link to the API catalog of the paper (RFC 9727, section 3). */
function frontHeaders(path: string, { root }: HeaderContext): Record<string, string> {
  if (path !== '/' && path !== '/index.html') return {};
  return { Link: `<${root}/.well-known/api-catalog>; rel="api-catalog"` };
}

function pageCsp(analytics: string | undefined): string {
  const origin = analytics === undefined ? '' : ` ${new URL(analytics).origin}`;
  return (
    "default-src 'none'; img-src 'self' data:; media-src 'self'; font-src 'self' data:; style-src 'self'; " +
    `script-src 'self'${origin}; connect-src 'self'${origin}; manifest-src 'self'; ` +
    "form-action 'self'; base-uri 'none'; frame-src 'self'; frame-ancestors 'none'"
  );
}

/** An SVG opened directly is a document: the sandbox runs no scripts and gives it an opaque origin. */
const MEDIA_CSP =
  "default-src 'none'; img-src 'self' data:; media-src 'self'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'";

/** Browsers may only display an untrusted text. */
const SOURCE_CSP = "default-src 'none'; sandbox; frame-ancestors 'none'";

function embedCsp(scripts: readonly string[]): string {
  const sources = scripts.length === 0 ? "'none'" : scripts.map((hash) => `'${hash}'`).join(' ');
  return (
    "default-src 'none'; img-src 'self'; media-src 'self'; font-src 'self' data:; style-src 'self' 'unsafe-inline'; " +
    `script-src ${sources}; form-action 'none'; base-uri 'none'; frame-ancestors *`
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
function areaHeaders(area: Area, { embed_scripts, analytics }: HeaderContext): Record<string, string> {
  const csps = { embed: () => embedCsp(embed_scripts), media: () => MEDIA_CSP, source: () => SOURCE_CSP };
  return {
    'Content-Security-Policy': area in csps ? csps[area as keyof typeof csps]() : pageCsp(analytics),
    'Cross-Origin-Resource-Policy': area === 'page' ? 'same-origin' : 'cross-origin',
    ...(area === 'source' ? { 'X-Robots-Tag': 'noindex, noarchive' } : {}),
  };
}

/** How long caches may keep an area's files. Asset names depend on content; media keep their names when replaced. */
function areaCache(area: Area): string {
  if (area === 'asset') return 'public, max-age=31536000, immutable';
  if (area === 'media') return 'public, max-age=3600, stale-while-revalidate=86400';
  return 'public, max-age=0, s-maxage=60, stale-while-revalidate=60';
}

export function pathMatcher(pattern: string): RegExp {
  const source = pattern
    .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
    .replace(/:[a-z]+/g, '[^/]+')
    .replace(/\*$/, '.*');
  return new RegExp(`^${source}$`);
}

const RULES = Object.entries(PATHS).map(([pattern, rule]) => ({ matcher: pathMatcher(pattern), rule }));

/** The combined rules of all patterns that match a path, however the path is encoded. */
function ruleOf(path: string): PathRule {
  const plain = decoded(path).replace(/\/{2,}/g, '/');
  return Object.assign({}, ...RULES.filter(({ matcher }) => matcher.test(plain)).map(({ rule }) => rule));
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** The headers in `_headers` for a path from the paper's root, with a leading slash. Unlisted paths count as pages. */
export function securityHeaders(path: string, context: HeaderContext): Record<string, string> {
  const { area = 'page', isOpen } = ruleOf(path);
  return {
    ...everywhere(context),
    ...areaHeaders(area, context),
    ...frontHeaders(path, context),
    ...(isOpen ? OPEN_HEADERS : {}),
  };
}

/** The Cache-Control of one address (RFC 9111); `path` as for `securityHeaders`. */
export function cacheControl(path: string): string {
  return areaCache(ruleOf(path).area ?? 'page');
}

/** The Content-Type of files whose names do not determine it, else null; `path` as for `securityHeaders`. */
export function contentType(path: string): string | null {
  return ruleOf(path).type ?? null;
}

/**
 * `_headers` for Netlify and Cloudflare Pages. Paths include the root's. `pages` are slugs of the paper's own pages.
 */
export function headersFile(context: HeaderContext, pages: readonly string[] = []): string {
  const base = new URL(context.root).pathname.replace(/\/$/, '');
  const own = pages.map((slug): [string, PathRule] => [`/${slug}/*`, { area: 'page' }]);
  const listed = Object.entries(PATHS);
  const first = listed.findIndex(([, { area }]) => area === undefined);
  const rules = listed.toSpliced(first, 0, ...own).map(([pattern, { area, isOpen, type }]) => ({
    pattern,
    headers: {
      ...(area === undefined ? {} : { ...areaHeaders(area, context), 'Cache-Control': areaCache(area) }),
      ...frontHeaders(pattern, context),
      ...(isOpen ? OPEN_HEADERS : {}),
      ...(type === undefined ? {} : { 'Content-Type': type }),
    },
  }));
  return [{ pattern: '/*', headers: everywhere(context) }, ...rules]
    .map(({ pattern, headers }) => {
      const lines = Object.entries(headers).map(([name, value]) => `  ${name}: ${value}`);
      return `${base}${pattern}\n${lines.join('\n')}\n`;
    })
    .join('\n');
}
