import { tags } from '../../desk/tags.ts';
import { proofOf } from '../../ledger/proof.ts';
import type { Output } from '../output.ts';
import { ofEachPiece } from '../output.ts';

/**
 * The proof of one piece on air. It is an output of its own, because a head that gets its quorum changes it and
 * nothing else.
 */
export const proof: Output = {
  kind: 'proof',
  stage: 'proof',
  ...ofEachPiece(tags.proof),
  print(edition, slug) {
    const found = edition.story(slug);
    if (found?.state !== 'on_air') return null;
    const generations = edition.generations(found.id);
    // The writing desk shows pieces that nothing has signed.
    if (generations.some(({ receipt }) => receipt === '')) return null;
    const sources = {
      generations,
      keys: edition.keys(),
      keysUrl: `${edition.site.root}/.well-known/newsdesk-keys.json`,
      log: edition.logProof(found.id),
      clock: edition.clockNotes(),
    };
    return [{ path: `stories/${slug}/proof.json`, body: `${JSON.stringify(proofOf(found, sources), null, 2)}\n` }];
  },
};
