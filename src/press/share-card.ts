import satori from 'satori';
import { CARD_HEIGHT, CARD_WIDTH, type Card } from './card.ts';
import { typeset } from './card-fonts.ts';
import { compose } from './card-layout.ts';
import { flatPng } from './card-png.ts';

/**
 * The characters of a text that no card typeface covers. The card omits a line with any such character: a headline in
 * an uncovered script gives a card of nameplate, section and date. Emoji do not count, because they are removed from
 * the line.
 */
export function missingGlyphs(text: string, language = 'en'): string[] {
  return typeset(text, 'serif', language).missing;
}

/** Draws a card as PNG, 1200 × 630. Equal cards give equal bytes. */
export async function drawCard(card: Card): Promise<Uint8Array> {
  return flatPng(await cardSvg(card));
}

/** The same picture as SVG that contains only paths and needs no font. */
export async function cardSvg(card: Card): Promise<string> {
  const { element, fonts } = compose(card);
  return satori(element, { width: CARD_WIDTH, height: CARD_HEIGHT, fonts });
}
