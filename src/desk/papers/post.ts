import * as z from 'zod';
import { isoTime } from '../../proof/time.ts';
import type { Row } from '../archive.ts';
import { type Links, storyUrl } from '../story.ts';

/** Maximum length of a post, in graphemes, as on short-post platforms. */
const POST_MAX = 300;

/** A piece in the short format of social platforms. */
export const PostRow = z
  .object({
    id: z.string(),
    headline: z.string(),
    dek: z.string().optional().meta({ description: 'Absent when it does not fit.' }),
    link: z.url(),
    image: z.url().meta({
      description: 'A PNG or a JPEG: the story’s own art, or its share card. Social platforms show no SVG.',
    }),
    text: z.string().meta({ description: `Headline, dek when it fits, link: at most ${POST_MAX} graphemes.` }),
    published_at: z.iso.datetime(),
  })
  .meta({ id: 'Post', description: 'A piece as a short post.' });
export type PostRow = z.infer<typeof PostRow>;

/** Creates a post from a piece. The same piece always gives the same post. */
export function postRow(row: Row, links: Links): PostRow {
  const link = storyUrl(links.root, row.slug);
  const whole = [row.headline, row.dek, link].join('\n\n');
  const fits = row.dek !== '' && graphemes(whole).length <= POST_MAX;
  // The link is never truncated: without it, a post would lead nowhere.
  const room = POST_MAX - graphemes(link).length - 2;
  return {
    id: row.id,
    headline: row.headline,
    ...(fits ? { dek: row.dek } : {}),
    link,
    image: links.raster(row),
    text: fits ? whole : `${truncateAtWord(row.headline, room)}\n\n${link}`,
    published_at: isoTime(row.published_at),
  };
}

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

function graphemes(text: string): string[] {
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** Truncates a text to at most `max` graphemes, with an ellipsis if anything was cut. */
function truncateAtWord(text: string, max: number): string {
  const all = graphemes(text);
  if (all.length <= max) return text;
  const kept = all.slice(0, Math.max(0, max - 1)).join('');
  const blank = kept.search(/\s\S*$/u);
  // If the first word fills all the space, or the script has no spaces, the text is cut at the limit.
  return `${(blank > 0 && !/^\s/u.test(all[max - 1] ?? '') ? kept.slice(0, blank) : kept).trimEnd()}…`;
}
