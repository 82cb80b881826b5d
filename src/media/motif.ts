import { sha256 } from '../proof/basis.ts';
import { present } from '../proof/narrow.ts';

/** The picture of a card whose piece has none: plain shapes in two tones, as two SVG paths. */
export interface Motif {
  /** The visible part of the field, as a `viewBox`. */
  box: string;
  soft: string;
  strong: string;
}

/** Tiles per row and per column of the field, and the side of each. A card shows the 16:9 center. */
const COLUMNS = 6;
const ROWS = 3;
const SIDE = 3;

/** The center of the field, in 16:9. */
const BOX = '1 0 16 9';

/** Shapes from the upper left corner of a tile: quarter discs about each corner, halves, a disc, triangles. */
const SHAPES = [
  'h3a3 3 0 0 1-3 3z',
  'h3v3a3 3 0 0 1-3-3z',
  'm3 0v3h-3a3 3 0 0 1 3-3z',
  'v3h3a3 3 0 0 0-3-3z',
  'a1.5 1.5 0 0 0 3 0z',
  'm0 3a1.5 1.5 0 0 1 3 0z',
  'm1.5 0a1.5 1.5 0 0 1 0 3a1.5 1.5 0 0 1 0-3z',
  'h3l-3 3z',
  'm3 0v3h-3z',
];

/** The motif of a section: every piece of it without a picture shows this one. */
export function motifOf(section: string): Motif {
  const digest = Buffer.from(sha256(`motif ${section}`).slice('sha256:'.length), 'hex');
  const motif: Motif = { box: BOX, soft: '', strong: '' };
  for (let tile = 0; tile < COLUMNS * ROWS; tile++) {
    const byte = digest.readUInt8(tile);
    const start = `M${(tile % COLUMNS) * SIDE} ${Math.floor(tile / COLUMNS) * SIDE}`;
    const shape = present(SHAPES[byte % SHAPES.length]);
    // One in five tiles gets a filled background behind its shape; one in five shows only the ground.
    const tone = Math.floor(byte / SHAPES.length) % 5;
    if (tone === 0) motif.soft += `${start}h${SIDE}v${SIDE}h-${SIDE}z`;
    if (tone < 3) motif.strong += start + shape;
    else if (tone === 3) motif.soft += start + shape;
  }
  return motif;
}
