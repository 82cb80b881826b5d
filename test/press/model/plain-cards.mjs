// Drawing is most of a small press's work. Loaded before the program, this gives each share card
// and drawn portrait a file of a few bytes, so that more presses and kills fit into a minute. Only the drawing is left out.
import { registerHooks } from 'node:module';

const SOURCES = {
  '/src/media/card/share-card.ts': `export const drawCard = async (card) => Buffer.from('A plain card: ' + JSON.stringify(card));`,
  '/src/media/draw-portrait.ts': `export const drawPortrait = async (portrait) => Buffer.from('A plain portrait: ' + JSON.stringify(portrait));`,
};

registerHooks({
  load(url, context, next) {
    const source = Object.entries(SOURCES).find(([file]) => url.endsWith(file))?.[1];
    if (source === undefined) return next(url, context);
    return { format: 'module', shortCircuit: true, source };
  },
});
