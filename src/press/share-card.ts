import satori from 'satori';
import { contentHash } from '../ledger/basis.ts';
import { setText } from './card-fonts.ts';
import { CARD_HEIGHT, CARD_WIDTH, compose } from './card-layout.ts';
import { flatPng } from './card-png.ts';

/** Grows when a card of the same words would look different, so that its file gets a new name. */
const TEMPLATE = 1;

/** Everything that a share card shows. */
export interface Card {
  nameplate: string;
  headline: string;
  /** The section's name. */
  category: string;
  /** The persona's name. */
  byline: string;
  /** YYYY-MM-DD, in UTC. */
  day: string;
  /** The paper's hue, an angle on the OKLCH wheel. */
  hue: number;
  /** BCP 47 tag of the piece: it chooses the typefaces, the line breaks and the form of the date. */
  language: string;
}

/** 16 hex digits that name a card by what it shows: `cards/{id}-{digest}.png`. */
export function cardDigest(card: Card): string {
  const { nameplate, headline, category, byline, day, hue, language } = card;
  const shown = { template: TEMPLATE, nameplate, headline, category, byline, day, hue, language };
  return contentHash(shown).slice('sha256:'.length, 'sha256:'.length + 16);
}

/**
 * The characters of a text that no typeface of the cards can draw. A line that
 * has any is left off the card as a whole: a headline in such a script gives a
 * card of the nameplate, the section and the date. Emoji are not counted; they
 * are left out of the line.
 */
export function uncovered(text: string, language = 'en'): string[] {
  return setText(text, 'serif', language).uncovered;
}

/** Draws a card as PNG, 1200 × 630. The same card gives the same bytes. */
export async function drawCard(card: Card): Promise<Uint8Array> {
  return flatPng(await cardSvg(card));
}

/** The same picture as SVG: paths only, no font is needed to show it. */
export async function cardSvg(card: Card): Promise<string> {
  const { element, fonts } = compose(card);
  return satori(element, { width: CARD_WIDTH, height: CARD_HEIGHT, fonts });
}
