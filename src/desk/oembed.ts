import * as z from 'zod';
import { CARD_WIDTH_MAX, CARD_WIDTH_MIN } from './embed-card.ts';

/** The longest address that is looked at, in characters. */
export const ADDRESS_MAX = 2_048;

/** For how long a consumer may keep a record, in seconds. */
export const CACHE_AGE = 3_600;

/** A record as oembed.com (section 2.3.4) has it: of type rich for a story, video for a video edition. */
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
    author_url: z.url(),
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

/** What may be embedded. */
export type EmbedTarget = { story: string } | { cast: string };

/**
 * The slug in a story's address under one of a paper's roots, or the day in that of
 * a video edition; null for any other address. The Markdown version's
 * address names its story too; query and fragment are ignored.
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
