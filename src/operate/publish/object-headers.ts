import { createHash } from 'node:crypto';
import { contentType } from 'mime-types';
import { pathMatcher } from '../../desk/press/feeds/headers.ts';

/** Headers that object storage serves as they are. It keeps any others as metadata. */
const SERVED = new Set(['content-type', 'cache-control', 'content-disposition', 'content-language', 'expires']);
/** All headers that affect readers, if somebody else set them: a page wrongly labelled as compressed is unreadable. */
const NOTICED = new Set([...SERVED, 'content-encoding', 'x-amz-website-redirect-location']);

/** Object storage serves other headers as `x-amz-meta-…`, which a CDN turns into headers (docs/publishing.md). */
export function objectHeaders(
  headers: Record<string, string>,
  path: string,
  bytes: Uint8Array,
): Record<string, string> {
  const type = contentType(path.slice(path.lastIndexOf('/') + 1)) || 'application/octet-stream';
  const given = Object.entries({ 'Content-Type': type, ...headers }).map(([name, value]) => {
    const lower = name.toLowerCase();
    return [SERVED.has(lower) ? lower : `x-amz-meta-${lower}`, value];
  });
  return { ...Object.fromEntries(given), 'x-amz-meta-sha256': createHash('sha256').update(bytes).digest('hex') };
}

/** Whether an object has the wanted headers, and no others that affect readers. */
export function hasHeaders(there: Record<string, string>, wanted: Record<string, string>): boolean {
  const isNoticed = (name: string) => NOTICED.has(name) || name.startsWith('x-amz-meta-');
  const extra = Object.entries(there).some(([name, value]) => value !== '' && isNoticed(name) && !(name in wanted));
  return !extra && Object.entries(wanted).every(([name, value]) => there[name.toLowerCase()] === value);
}

/** The headers of a file; `path` is relative to the paper's folder. */
export type HeaderRules = (path: string) => Record<string, string>;

/** Parses a `_headers` file of the press. Its first rule, for every address, shows the path of the root. */
export function parseHeaderRules(text: string): HeaderRules {
  const blocks = text.split('\n\n').map((block) => block.split('\n').filter((line) => line !== ''));
  const root = (blocks[0]?.[0] ?? '/*').replace(/\/\*$/, '');
  const rules = blocks.map(([pattern = '', ...lines]) => ({
    matches: pathMatcher(pattern.slice(root.length)),
    headers: Object.fromEntries(lines.map(parseLine)),
  }));
  return (path) => {
    const address = `/${path.replace(/(^|\/)index\.html$/, '$1')}`;
    return Object.assign({}, ...rules.filter(({ matches }) => matches.test(address)).map(({ headers }) => headers));
  };
}

function parseLine(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
}
