import { LRUCache } from 'lru-cache';
import satori from 'satori';
import { CARD_HEIGHT, CARD_WIDTH, type Card } from './card.ts';
import { typeset } from './card-fonts.ts';
import { compose, type Layer } from './card-layout.ts';
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
  const layers = await Promise.all(compose(card).map(layerSvg));
  return `<svg width="${CARD_WIDTH}" height="${CARD_HEIGHT}" xmlns="http://www.w3.org/2000/svg">${layers.join('')}</svg>`;
}

/** What other cards draw too is set once, which takes satori longer than anything else. */
const drawnLayers = new LRUCache<string, Promise<string>>({ max: 200 });

function layerSvg(layer: Layer): Promise<string> {
  const key = JSON.stringify(layer.element);
  let svg = drawnLayers.get(key);
  if (svg === undefined) {
    svg = drawLayer(layer);
    drawnLayers.set(key, svg);
    // What failed once may succeed the next time.
    svg.catch(() => drawnLayers.delete(key));
  }
  return svg;
}

async function drawLayer({ element, fonts }: Layer): Promise<string> {
  const svg = await satori(element, { width: CARD_WIDTH, height: CARD_HEIGHT, fonts });
  // Masks are for contents that overflow: nothing here refers to one.
  return svg.replace(/^<svg[^>]*>|<\/svg>$|<mask.*?<\/mask>/g, '');
}
