// Drawing share cards is most of a small press's work. Loaded before the program, this gives each card
// a file of a few bytes, so that more presses and kills fit into a minute. Only the drawing is left out.
import { registerHooks } from 'node:module';

const SOURCE = `export const drawCard = async (card) => Buffer.from('A plain card: ' + JSON.stringify(card));`;

registerHooks({
  load(url, context, next) {
    if (!url.endsWith('/src/press/share-card.ts')) return next(url, context);
    return { format: 'module', shortCircuit: true, source: SOURCE };
  },
});
