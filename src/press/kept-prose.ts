import type { Story } from '../desk/archive.ts';
import { wordCount } from '../desk/word-count.ts';
import type { ProseHtml } from './prose-html.ts';

/** What stands around the prose on a story's page. Within, a line begins with the end only where pictures are shown. */
const START = '<div class="prose">';
const END = '\n</div>';

/** What precedes the number of words in the JSON-LD of a page. */
const WORDS = '"wordCount":';

const MARKER = /<sup class="marker" id="([^"]+)" data-n="(\d+)"/g;

/** A prose as a page shows it. */
export interface ShownProse extends ProseHtml {
  words: number;
}

/** A prose that was just rendered. */
export function shownProse(rendered: ProseHtml, { prose, language }: Pick<Story, 'prose' | 'language'>): ShownProse {
  return { ...rendered, words: wordCount(prose, language) };
}

/**
 * The prose of a story as an earlier press rendered it, from the page that it wrote: parsing prose is the dearest part
 * of a page. Null when the page shows another revision, or when the prose shows pictures, whose HTML depends on the
 * paper's media too. The caller makes sure that a press wrote these bytes, with the renderer of today.
 */
export function keptProse(page: Buffer, { content_hash }: Pick<Story, 'content_hash'>): ShownProse | null {
  // The page names its revision in its JSON-LD, where no text can contain an unescaped quote.
  const revision = page.indexOf(`"value":"${content_hash}"`);
  const words = revision < 0 ? -1 : page.lastIndexOf(WORDS, revision);
  if (words < 0) return null;
  const start = page.indexOf(START) + START.length;
  const end = page.indexOf(END, start);
  if (start < START.length || end < 0) return null;
  const html = page.toString('utf8', start, end + 1);
  if (html.includes('<img')) return null;
  const markerIds = new Map<number, string[]>();
  for (const [, id = '', n] of html.matchAll(MARKER)) {
    const ids = markerIds.get(Number(n));
    if (ids === undefined) markerIds.set(Number(n), [id]);
    else ids.push(id);
  }
  const count = Number.parseInt(page.toString('latin1', words + WORDS.length, revision), 10);
  return { html, markerIds, words: count };
}
