import * as z from 'zod';

/** The content that decides the height of an embed card. */
export interface CardContent {
  headline: string;
  dek: string;
  /** The persona's name. */
  byline: string;
  nameplate: string;
}

export interface CardSize {
  width: number;
  height: number;
}

/** Range of widths that an oEmbed consumer may request, in CSS pixels. */
export const CARD_WIDTH_MIN = 220;
export const CARD_WIDTH_MAX = 640;

/** Minimum height of a frame, in pixels, in which a card shows its picture (layouts/embed.css). */
const PICTURE_FROM = 240;

/** Widths in pixels at which the card's layout changes (layouts/embed.css). */
const MEDIUM = 320;
const WIDE = 512;
/** Number of dek lines shown. */
const DEK_LINES = 3;
/** Room in the byline for the label and the date next to the name, in characters. */
const LABEL_AND_DATE = 32;

/** Characters one em wide; all others are about half an em. */
const FULL_WIDTH =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f000}-\u{3fffd}]/u;

/**
 * The card's height at a width, in pixels. Uses the sizes of layouts/embed.css and estimates the lines of each text
 * from its length. A card has a picture, the piece's own or its section's motif, unless its frame is too low. The
 * reader's typefaces decide where lines break, so the estimate may be one line too high; a framed card reports its
 * true height itself.
 */
export function cardHeight(width: number, content: CardContent, hasPicture = true): number {
  const { headline, dek, byline, nameplate } = content;
  const isNarrow = width < MEDIUM;
  const type = isNarrow ? 17 : width >= WIDE ? 24 : 20;
  const column = width - 2 - 2 * (isNarrow ? 12 : 16);
  const bylineLines = lines(byline, 12, column, LABEL_AND_DATE);
  const parts = [
    // Borders and padding.
    5 + (isNarrow ? 11.2 + 12 : 14.4 + 16),
    hasPicture ? ((width - 2) * 9) / 16 : 0,
    // The section, on one line.
    17.04,
    4 + lines(headline, type, column) * type * 1.15,
    isNarrow || dek === '' ? 0 : 7.2 + Math.min(DEK_LINES, lines(dek, 15, column)) * 21.3,
    9.6 + 2 + bylineLines * 17.04,
    12.8 + 10.6 + lines(nameplate, 17, column) * 24.14,
  ];
  return Math.ceil(parts.reduce((sum, part) => sum + part, 0));
}

/**
 * The size of the card's frame: as wide as possible, and never higher than `maxHeight`. A card that is too high
 * becomes narrower until its picture fits, then loses the picture, and is finally cut off at the bottom.
 */
export function cardSize(maxWidth: number, maxHeight: number, content: CardContent): CardSize {
  const low = Math.min(maxHeight, PICTURE_FROM - 1);
  return (
    fitting(maxWidth, maxHeight, content, true) ??
    fitting(maxWidth, low, content, false) ?? { width: maxWidth, height: low }
  );
}

/** The widest size within `maxHeight`; null when there is none. */
function fitting(maxWidth: number, maxHeight: number, content: CardContent, hasPicture: boolean): CardSize | null {
  for (let width = maxWidth; width >= CARD_WIDTH_MIN; width--) {
    const height = cardHeight(width, content, hasPicture);
    if (height <= maxHeight) return { width, height };
  }
  return null;
}

/** How many lines a text fills at a font size in a column, both in pixels. */
function lines(text: string, size: number, column: number, more = 0): number {
  let ems = more / 2;
  for (const character of text) ems += FULL_WIDTH.test(character) ? 1 : 0.51;
  const length = ems * size;
  // Broken lines do not fill the column.
  return length <= column ? 1 : Math.ceil(length / (column - size));
}

/** Height of the area below a player's picture, in pixels (layouts/player.css). */
const PLAYER_FOOT = 30;

/** The size of a player's frame: as wide as possible at the video's aspect ratio, and never higher than `maxHeight`. */
export function playerSize(maxWidth: number, maxHeight: number, video: CardSize): CardSize {
  const fitting = Math.floor(((maxHeight - PLAYER_FOOT) * video.width) / video.height);
  const width = Math.max(CARD_WIDTH_MIN, Math.min(maxWidth, fitting));
  return { width, height: Math.min(maxHeight, Math.round((width * video.height) / video.width) + PLAYER_FOOT) };
}

/** Maximum length of an address, in characters. Longer ones are ignored. */
export const ADDRESS_MAX = 2_048;

/** How long a consumer may cache a record, in seconds. */
export const CACHE_AGE = 3_600;

/** A record in the format of oembed.com (section 2.3.4): type rich for a story or sound, video for a video edition. */
export const OEmbed = z
  .object({
    type: z.enum(['rich', 'video']).meta({
      description: '`rich`: a story’s card, or the player of an audio edition. `video`: that of a video edition.',
    }),
    version: z.literal('1.0'),
    title: z.string(),
    author_name: z.string().meta({
      description: 'The byline, declared: `Ines Calloway (AI persona)`; of an edition `The Plumb Line (AI personas)`.',
    }),
    author_url: z.url().optional(),
    provider_name: z.string().meta({ description: 'The paper.' }),
    provider_url: z.url(),
    cache_age: z.int().meta({ description: 'How long the record may be cached, in seconds.' }),
    html: z.string().meta({
      description:
        'A blockquote with a link, then an iframe of the card or the player: the form that WordPress expects.',
    }),
    width: z.int().min(CARD_WIDTH_MIN).max(CARD_WIDTH_MAX),
    height: z.int().min(1).meta({
      description:
        'Of the card at this width, give or take a line, or of the player; in the frame it reports its actual height.',
    }),
    thumbnail_url: z.url().optional().meta({ description: 'Only a picture that fits maxwidth and maxheight.' }),
    thumbnail_width: z.int().optional(),
    thumbnail_height: z.int().optional(),
  })
  .meta({ id: 'OEmbed', description: 'An oEmbed 1.0 record.' });
export type OEmbed = z.infer<typeof OEmbed>;

/** An embeddable resource. */
type EmbedTarget = { story: string } | { cast: string };

/**
 * Parses an address under one of a paper's roots: the slug of a story, or the day of an edition; null for any
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
