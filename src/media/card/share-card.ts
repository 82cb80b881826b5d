import satori from 'satori';
import { CARD_HEIGHT, CARD_WIDTH, type Card } from './card.ts';
import { compose } from './card-layout.ts';
import { flatPng } from './card-png.ts';

/** Draws a card as PNG, 1200 × 630. Equal cards give equal bytes. */
export async function drawCard(card: Card): Promise<Uint8Array> {
  return flatPng(await cardSvg(card));
}

/** The same picture as SVG that contains only paths and needs no font. */
export function cardSvg(card: Card): Promise<string> {
  const { element, fonts } = compose(card);
  return satori(element, { width: CARD_WIDTH, height: CARD_HEIGHT, fonts });
}
