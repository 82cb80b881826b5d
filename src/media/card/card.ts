import { en } from '../../phrases/en.ts';
import { phrasesOf } from '../../phrases/tables.ts';
import { sha256 } from '../../proof/basis.ts';

// The content and file names of cards. The drawing libraries are loaded only when a card is drawn.

/** The size of a share card, in pixels. */
export const CARD_WIDTH = 1200;
export const CARD_HEIGHT = 630;

/** Increment when the same content would look different, so that the card's file gets a new name. */
const CARD_TEMPLATE = 1;

/** Increment when the same cover would look different. */
const COVER_TEMPLATE = 1;

export interface Card {
  nameplate: string;
  headline: string;
  category: string;
  byline: string;
  /** Who wrote the piece, when people did. */
  writer: string | null;
  /** YYYY-MM-DD, in UTC. */
  day: string;
  hue: number;
  /** BCP 47 tag of the piece. It selects the typefaces, the line breaking and the date format. */
  language: string;
}

/** 16 hex digits that identify a card by its content: `cards/{id}-{digest}.png`. */
export function cardDigest(card: Card): string {
  const { nameplate, headline, category, byline, writer, day, hue, language } = card;
  const declaration = declarationOf(card);
  return digestOf({
    ...{ nameplate, headline, category, byline, day, hue, language },
    ...(declaration === en.byline.persona ? {} : { declaration }),
    ...(writer === null ? {} : { writer }),
    template: CARD_TEMPLATE,
  });
}

/** The label that declares the persona, in the language of the piece, as on its embed card. */
export const declarationOf = ({ language }: Card): string => phrasesOf(language).byline.persona;

/** Pixels. Podcast apps require a square of 1400 to 3000 pixels. */
export const COVER_SIDE = 1400;

export type Cover = Pick<Card, 'nameplate' | 'hue' | 'language'>;

/** The path of a cover in the tree. The name depends on the cover's content. */
export function coverPath({ nameplate, hue, language }: Cover): string {
  return `cards/cover-${digestOf({ hue, language, nameplate, template: COVER_TEMPLATE })}.png`;
}

/** The digest of an object without nested objects. With its members in this order, its JSON is canonical. */
function digestOf(content: object): string {
  return sha256(JSON.stringify(content, Object.keys(content).sort())).slice('sha256:'.length, 'sha256:'.length + 16);
}
