import type { Font } from 'satori';
import satori from 'satori';
import { present } from '../../src/narrow.ts';
import { CARD_HEIGHT, CARD_WIDTH, type Card } from '../../src/press/card.ts';
import { compose } from '../../src/press/card-layout.ts';

/** By the names of the fonts: satori parses the fonts of an array that it has not seen. */
const fontSets = new Map<string, Font[]>();

/** A card as satori draws it at once, nothing kept from other cards. */
export function wholeCardSvg(card: Card): Promise<string> {
  const layers = compose(card);
  const ground = present(layers[0]).element;
  const children = layers.flatMap(({ element }) => element.props.children);
  const named = new Map(layers.flatMap(({ fonts }) => fonts).map((font) => [font.name, font]));
  const names = [...named.keys()].join();
  const fonts = fontSets.get(names) ?? [...named.values()];
  fontSets.set(names, fonts);
  return satori({ ...ground, props: { ...ground.props, children } }, { width: CARD_WIDTH, height: CARD_HEIGHT, fonts });
}
