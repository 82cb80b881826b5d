import satori from 'satori';
import { CARD_HEIGHT, CARD_WIDTH, type Card } from './card.ts';
import { typeset } from './card-fonts.ts';
import { compose } from './card-layout.ts';
import { flatPng } from './card-png.ts';

/**
 * The characters of a text that no typeface of the cards can draw. A line that
 * has any is left off the card as a whole: a headline in such a script gives a
 * card of the nameplate, the section and the date. Emoji are not counted; they
 * are left out of the line.
 */
export function missingGlyphs(text: string, language = 'en'): string[] {
  return typeset(text, 'serif', language).missing;
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
