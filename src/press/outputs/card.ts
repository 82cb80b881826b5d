import { tags } from '../../desk/tags.ts';
import type { Output } from '../output.ts';
import { ofEachPiece } from '../output.ts';
import { cardOf } from './row-view.ts';

/** The share card of one piece. Its path depends on its content, so an existing card is never drawn again. */
export const card: Output = {
  kind: 'card',
  stage: 'card',
  ...ofEachPiece(tags.card),
  print(edition, slug) {
    const found = edition.story(slug);
    if (found?.state !== 'on_air') return null;
    const { card: shown, path } = cardOf(edition, found);
    return [{ path, draw: async () => (await import('../share-card.ts')).drawCard(shown) }];
  },
};
