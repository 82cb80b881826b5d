import type { Story } from '../desk/archive.ts';
import { wordCount } from '../desk/word-count.ts';
import type { PressCache } from './press-cache.ts';
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
const basisOf = ({ content_hash, language }: Pick<Story, 'content_hash' | 'language'>) => `${content_hash} ${language}`;

type Kept = Pick<ShownProse, 'length' | 'words'> & { markers: [number, number][] };

/** A prose that was just rendered. */
export function shownProse(rendered: ProseHtml, { prose, language }: Pick<Story, 'prose' | 'language'>): ShownProse {
  return { ...rendered, length: rendered.html.length, words: wordCount(prose, language) };
}

/** The HTML of stories' prose that the cache has, by slug. Those that show pictures are not among it. */
export function keptHtml(
  cache: PressCache,
  stories: readonly Pick<Story, 'slug' | 'content_hash' | 'language'>[],
): Map<string, string> {
  const found = new Map<string, string>();
  if (stories.length === 0) return found;
  const kept = cache.read(stories.map(({ slug }) => `story/${slug}`));
  for (const story of stories) {
    const bytes = kept.get(`story/${story.slug}`, basisOf(story))?.bytes;
    if (bytes !== undefined) found.set(story.slug, Buffer.from(bytes).toString());
  }
  return found;
}

/**
 * The prose of a story from the cache, else what `render` makes of it: to parse prose is the dearest part of a page, and
 * the result depends on nothing but the revision and the code. Unless it shows pictures, whose HTML depends on the
 * paper's media too: these are rendered each time.
 */
export function cachedProse(
  cache: PressCache | null | undefined,
  output: string,
  story: Pick<Story, 'prose' | 'language' | 'content_hash'>,
  render: () => ProseHtml,
): ShownProse {
  const kept = cache?.get<Kept>(output, basisOf(story));
  if (kept) return { ...kept.value, html: kept.bytes, markers: new Map(kept.value.markers) };
  const rendered = render();
  const shown = shownProse(rendered, story);
  if (cache && !rendered.html.includes('<img')) {
    const { length, words, markers } = shown;
    cache.keep<Kept>(output, basisOf(story), { length, words, markers: [...markers] }, utf8(rendered.html));
  }
  return shown;
}
