import type { Story } from '../desk/archive.ts';
import { wordCount } from '../desk/word-count.ts';
import type { CacheLoad } from './press-cache.ts';
import type { ProseHtml } from './prose-html.ts';
import { utf8 } from './utf8.ts';

/** A prose as a page shows it. */
export interface ShownProse extends Pick<ProseHtml, 'markers'> {
  /** Text that was just rendered, or UTF-8 from the cache. */
  html: string | Uint8Array;
  /** The length of the HTML in UTF-16 units. */
  length: number;
  words: number;
}

/** What prose and its number of words depend on, besides the code. */
export const proseVersion = ({ content_hash, language }: Pick<Story, 'content_hash' | 'language'>): string =>
  `${content_hash} ${language}`;

/** A prose that was just rendered. */
export function shownProse(rendered: ProseHtml, { prose, language }: Pick<Story, 'prose' | 'language'>): ShownProse {
  return { ...rendered, length: rendered.html.length, words: wordCount(prose, language) };
}

interface Cached extends Pick<ShownProse, 'length' | 'words'> {
  markers: [n: number, count: number][];
}

/**
 * The prose of a story from the cache, else what `render` makes of it: to parse prose is the dearest part of a page, and
 * the result depends on nothing but the revision and the code. Unless it shows pictures, whose HTML depends on the
 * paper's media too: these are rendered each time.
 */
export function cachedProse(
  cache: CacheLoad | null | undefined,
  output: string,
  story: Pick<Story, 'prose' | 'language' | 'content_hash'>,
  render: () => ProseHtml,
): ShownProse {
  const version = proseVersion(story);
  const cached = cache?.get<Cached>(output, version);
  if (cached) return { ...cached.value, html: cached.bytes, markers: new Map(cached.value.markers) };
  const rendered = render();
  const shown = shownProse(rendered, story);
  if (cache && !rendered.html.includes('<img')) {
    const { length, words, markers } = shown;
    cache.put<Cached>(output, version, { length, words, markers: [...markers] }, utf8(rendered.html));
  }
  return shown;
}
