import { tags } from '../../desk/tags.ts';
import type { Output } from '../output.ts';
import { tagged } from '../output.ts';
import { cardOf } from './row-view.ts';

/** The share card of one piece. Its path says what it shows, so one that is on disk is never drawn again. */
export const card: Output = {
  kind: 'card',
  stage: 'card',
  *from(tag, edition) {
    const id = tagged(tags.piece(''), tag) ?? tagged(tags.card(''), tag);
    const piece = id === null ? null : edition.piece(id);
    if (piece !== null) yield piece.slug;
  },
  *all(edition) {
    for (const { slug } of edition.slugs()) yield slug;
  },
  print(edition, slug) {
    const found = edition.story(slug);
    if (found?.state !== 'on_air') return null;
    const { card: shown, path } = cardOf(edition, found);
    return [{ path, draw: async () => (await import('../share-card.ts')).drawCard(shown) }];
  },
};
