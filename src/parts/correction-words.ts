import type { Phrases } from '../phrases/phrases.ts';

/** The name and the CSS class of each kind of row in the list of corrections. */
export function correctionWords({ corrections: { corrected, withdrawn }, fact: { retracted } }: Phrases) {
  return {
    correction: { text: corrected, kind: 'correction' },
    corrected: { text: corrected, kind: 'correction' },
    withdrawal: { text: withdrawn, kind: 'withdrawal' },
    retracted: { text: retracted, kind: 'withdrawal' },
  };
}
