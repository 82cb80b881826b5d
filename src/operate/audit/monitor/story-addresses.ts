import { messageOf } from '../../../shared/fault.ts';
import { isMissing } from '../log/served-log.ts';
import { fetched } from '../verify-sources.ts';
import { unescaped } from './page-text.ts';

/** Where a site says which stories it has: its sitemaps (sitemaps.org), which robots.txt lists for a whole host. */

/** The largest file, in bytes: the limit of sitemaps.org. */
const SITEMAP_MAX = 50_000_000;
const ROBOTS_MAX = 500_000;
const SITEMAPS_MAX = 1_000;
/** The most stories of one site that are listed and watched. */
export const STORIES_MAX = 50_000;
const ADDRESS_MAX = 2_048;
const PATIENCE = { silence: 10_000, whole: 60_000, accept: '*/*' };

/**
 * The addresses of a site's stories, each with a slash at its end. Appends to `unchecked` what cannot be read or is too
 * long, and a site that `hadStories` but has no list of them now.
 */
export async function storyAddresses(site: string, unchecked: string[], isLate: () => boolean, hadStories = false) {
  const base = site.endsWith('/') ? site : `${site}/`;
  const stories = new Set<string>();
  const seen = new Set<string>();
  const queue = await firstSitemaps(base, unchecked);
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    if (seen.has(next)) continue;
    if (seen.size === SITEMAPS_MAX || isLate()) {
      unchecked.push(`${base}: only ${seen.size} of its sitemaps were read`);
      break;
    }
    seen.add(next);
    try {
      const text = await fetched(next, "a paper's address", { bytes: SITEMAP_MAX, ...PATIENCE });
      const own = [...locationsIn(text)].filter((address) => isOn(base, address));
      if (text.includes('<sitemapindex')) queue.push(...own.slice(0, SITEMAPS_MAX));
      else for (const address of own) if (isStory(address)) stories.add(address);
    } catch (error) {
      // A host of several papers has no sitemap of its own.
      const isOther = next !== `${base}sitemap.xml` || !isRoot(base);
      const isLast = seen.size === 1 && queue.length === 0;
      if (!isMissing(error) || isOther || (isLast && hadStories)) unchecked.push(messageOf(error));
    }
    if (stories.size > STORIES_MAX) {
      unchecked.push(`${base}: it lists more than ${STORIES_MAX} stories, the most that a monitor watches`);
      return new Set([...stories].slice(0, STORIES_MAX));
    }
  }
  return stories;
}

async function firstSitemaps(base: string, unchecked: string[]): Promise<string[]> {
  const own = `${base}sitemap.xml`;
  if (!isRoot(base)) return [own];
  const robots = `${base}robots.txt`;
  try {
    const text = await fetched(robots, "a paper's address", { bytes: ROBOTS_MAX, ...PATIENCE });
    const named = text.split('\n').flatMap((line) => (line.startsWith('Sitemap: ') ? [line.slice(9).trim()] : []));
    return [own, ...named.filter((address) => isOn(base, address)).slice(0, SITEMAPS_MAX)];
  } catch (error) {
    // The domain records have no stories, and so none of these files.
    if (!isMissing(error)) unchecked.push(messageOf(error));
    return [own];
  }
}

function* locationsIn(xml: string): Generator<string> {
  const [open, close] = ['<loc>', '</loc>'];
  for (let at = xml.indexOf(open); at >= 0; at = xml.indexOf(open, at)) {
    const end = xml.indexOf(close, at);
    if (end < 0) return;
    const address = xml.slice(at + open.length, end).trim();
    if (address.length <= ADDRESS_MAX) yield unescaped(address);
    at = end;
  }
}

function isRoot(base: string): boolean {
  return new URL(base).pathname === '/';
}

function isOn(base: string, address: string): boolean {
  return URL.parse(address)?.origin === new URL(base).origin;
}

function isStory(address: string): boolean {
  const segments = new URL(address).pathname.split('/');
  return segments.at(-3) === 'stories' && segments.at(-1) === '' && segments.at(-2) !== '';
}
