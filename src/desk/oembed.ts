import * as z from 'zod';
import { CARD_WIDTH_MAX, CARD_WIDTH_MIN } from './embed-card.ts';

/** Longer addresses are ignored; in characters. */
export const ADDRESS_MAX = 2_048;

/** How long a consumer may cache a record, in seconds. */
export const CACHE_AGE = 3_600;

/** A record in the format of oembed.com (section 2.3.4): type rich for a story, video for a video edition. */
export const OEmbed = z
  .object({
    type: z
      .enum(['rich', 'video'])
      .meta({ description: '`rich`: a story’s card. `video`: the player of a video edition.' }),
    version: z.literal('1.0'),
    title: z.string(),
    author_name: z.string().meta({
      description:
        'The byline, declared: `Ines Calloway (AI persona)`; of a video edition `The Plumb Line (AI personas)`.',
    }),
    author_url: z.url().optional(),
    provider_name: z.string().meta({ description: 'The paper.' }),
    provider_url: z.url(),
    cache_age: z.int().meta({ description: 'For how long the record may be kept, in seconds.' }),
    html: z.string().meta({
      description: 'A blockquote with a link, then an iframe of the card or the player: the form that WordPress takes.',
    }),
    width: z.int().min(CARD_WIDTH_MIN).max(CARD_WIDTH_MAX),
    height: z.int().min(1).meta({
      description:
        'Of the card at this width, give or take a line, or of the player; in the frame it tells its true height.',
    }),
    thumbnail_url: z.url().optional().meta({ description: 'Only a picture that keeps to maxwidth and maxheight.' }),
    thumbnail_width: z.int().optional(),
    thumbnail_height: z.int().optional(),
  })
  .meta({ id: 'OEmbed', description: 'An oEmbed 1.0 record.' });
export type OEmbed = z.infer<typeof OEmbed>;

/** An embeddable resource. */
export type EmbedTarget = { story: string } | { cast: string };

/**
 * Parses an address under one of a paper's roots: the slug of a story, or the day of a video edition; null for any
 * other address. The address of the Markdown version also counts. Ignores query and fragment.
 */
export function embedTarget(address: string, roots: readonly string[]): EmbedTarget | null {
  const url = URL.parse(address);
  if (url === null || url.username !== '' || url.password !== '') return null;
  for (const root of roots) {
    const { origin, pathname } = new URL(root);
    const base = pathname.replace(/\/$/, '');
    if (url.origin !== origin || !url.pathname.startsWith(`${base}/`)) continue;
    const path = url.pathname.slice(base.length);
    const story = /^\/stories\/([a-z0-9-]+)(?:\/|\.md)?$/.exec(path)?.[1];
    if (story !== undefined) return { story };
    const cast = /^\/cast\/(\d{4}-\d\d-\d\d)\/?$/.exec(path)?.[1];
    if (cast !== undefined) return { cast };
  }
  return null;
}
