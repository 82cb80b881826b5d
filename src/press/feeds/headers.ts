import type { HeaderContext } from './header-policy.ts';
import {
  AREAS,
  areaCache,
  areaHeaders,
  everywhere,
  FRONT,
  frontHeaders,
  OPEN,
  OPEN_HEADERS,
  TYPES,
} from './header-policy.ts';

const matchers = new Map<string, RegExp>();
for (const pattern of [...AREAS.map(([path]) => path), ...OPEN, ...TYPES.map(([path]) => path)]) {
  const source = pattern
    .replace(/[.]/g, '\\.')
    .replace(/:[a-z]+/g, '[^/]+')
    .replace(/\*$/, '.*');
  matchers.set(pattern, new RegExp(`^${source}$`));
}

/** Whether a pattern matches the file at a path, whatever the spelling of the path. */
function matches(pattern: string, path: string): boolean {
  return matchers.get(pattern)?.test(decoded(path).replace(/\/{2,}/g, '/')) ?? false;
}

function decoded(path: string): string {
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** The area of a path; unlisted paths count as pages. */
function areaOf(path: string) {
  return AREAS.find(([pattern]) => matches(pattern, path))?.[1] ?? 'page';
}

/**
 * The security, CORS and Link headers of one path, which begins with a slash and is relative to the paper's root.
 * They are exactly those that `_headers` lists for it.
 */
export function securityHeaders(path: string, context: HeaderContext): Record<string, string> {
  return {
    ...everywhere(context),
    ...areaHeaders(areaOf(path), context),
    ...(FRONT.includes(path) ? frontHeaders(context) : {}),
    ...(OPEN.some((pattern) => matches(pattern, path)) ? OPEN_HEADERS : {}),
  };
}

/** The Cache-Control of one address (RFC 9111); `path` as for `securityHeaders`. */
export function cacheControl(path: string): string {
  return areaCache(areaOf(path));
}

/** The Content-Type of files whose names do not determine it, else null; `path` as for `securityHeaders`. */
export function contentType(path: string): string | null {
  return TYPES.find(([pattern]) => matches(pattern, path))?.[1] ?? null;
}

/**
 * The `_headers` file for Netlify and Cloudflare Pages. Its paths include the path of the root, as the host sees
 * them. `pages` are the slugs of the paper's own pages.
 */
export function headersFile(context: HeaderContext, pages: readonly string[] = []): string {
  const base = new URL(context.root).pathname.replace(/\/$/, '');
  const rules = new Map<string, Record<string, string>>([['/*', everywhere(context)]]);
  const add = (pattern: string, headers: Record<string, string>) =>
    rules.set(pattern, { ...rules.get(pattern), ...headers });
  const own = pages.map((slug) => [`/${slug}/*`, 'page'] as const);
  for (const [pattern, area] of [...AREAS, ...own]) {
    add(pattern, { ...areaHeaders(area, context), 'Cache-Control': areaCache(area) });
  }
  for (const pattern of FRONT) add(pattern, frontHeaders(context));
  for (const pattern of OPEN) add(pattern, OPEN_HEADERS);
  for (const [pattern, type] of TYPES) add(pattern, { 'Content-Type': type });
  return [...rules]
    .map(([pattern, headers]) => {
      const lines = Object.entries(headers).map(([name, value]) => `  ${name}: ${value}`);
      return `${base}${pattern}\n${lines.join('\n')}\n`;
    })
    .join('\n');
}
