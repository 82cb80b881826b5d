import satori from 'satori';
import sharp from 'sharp';
import { sha256 } from '../proof/basis.ts';
import { present } from '../proof/narrow.ts';
import { deepPalette, type Palette, palePalette } from './card/card-color.ts';
import { type TypesetText, typeset } from './card/card-fonts.ts';
import { box, knownLanguage } from './card/card-layout.ts';
import { flatPng } from './card/card-png.ts';
import { monogramOf, PORTRAIT_SIDE, type Portrait } from './portrait.ts';

/** Font size in pixels at which the letters are set and measured, on a square canvas of the same side. */
const SIZE = 420;
const CANVAS = 1024;
/** The centered box that the letters fill. It lies within the circle to which pages crop portraits. */
const ONE = { width: 270, height: 214 };
const TWO = { width: 312, height: 176 };
/** Keeps small signs from being enlarged to the height of capitals. */
const SCALE_MAX = 0.8;
const HALF = PORTRAIT_SIDE / 2;

/**
 * Draws a monogram on the paper's color, over a plain shape, as PNG. The slug decides the shape and whether the ground
 * is deep or pale, so that the personas of a desk look different. Equal portraits give equal bytes.
 */
export async function drawPortrait(portrait: Portrait): Promise<Uint8Array> {
  const digest = Buffer.from(sha256(`portrait ${portrait.slug}`).slice('sha256:'.length), 'hex');
  const palette = (digest.readUInt8(0) % 2 === 0 ? deepPalette : palePalette)(portrait.hue);
  const shape = present(SHAPES[digest.readUInt8(1) % SHAPES.length]);
  const letters = await lettersSvg(drawable(portrait), palette);
  const side = `width="${PORTRAIT_SIDE}" height="${PORTRAIT_SIDE}"`;
  return flatPng(
    `<svg xmlns="http://www.w3.org/2000/svg" ${side}><rect ${side} fill="${palette.ground}"/><g fill="${palette.shade}">${shape}</g>${letters}</svg>`,
  );
}

/** Shapes behind the letters. Each crosses the center, so that it is visible in a circle and at 40 pixels. */
const SHAPES = [
  `<circle cx="${HALF}" cy="${PORTRAIT_SIDE}" r="300"/>`,
  `<path d="M0 ${PORTRAIT_SIDE}L${PORTRAIT_SIDE} 0V${PORTRAIT_SIDE}Z"/>`,
  `<path d="M0 ${HALF}H${PORTRAIT_SIDE}V${PORTRAIT_SIDE}H0Z"/>`,
  `<path d="M${HALF} 0H${PORTRAIT_SIDE}V${PORTRAIT_SIDE}H${HALF}Z"/>`,
  `<circle cx="${HALF}" cy="${HALF}" r="206"/>`,
  `<path d="M0 128H512V384H0Z"/>`,
  `<path d="M0 0L${PORTRAIT_SIDE} ${PORTRAIT_SIDE}H0Z"/>`,
  `<circle cx="${PORTRAIT_SIDE}" cy="${HALF}" r="330"/>`,
];

/** The monogram, if need be without marks that the typefaces lack; else that of the slug, which is always Latin. */
function drawable({ name, slug, language: tag }: Portrait): TypesetText {
  const language = knownLanguage(tag);
  const monogram = monogramOf(name, language);
  const texts = [monogram, monogram.normalize('NFD').replace(/\p{M}/gu, ''), slug.slice(0, 1).toUpperCase()];
  for (const text of texts) {
    const set = typeset(text, 'serif', language);
    if (set.text !== '' && set.missing.length === 0) return set;
  }
  throw new Error(`no typeface has the letter of ${slug}`);
}

/** Centers the letters by their ink rather than by their line box. */
async function lettersSvg(set: TypesetText, { ink }: Palette): Promise<string> {
  const text = box(
    {
      justifyContent: 'center',
      alignItems: 'center',
      width: CANVAS,
      height: CANVAS,
      color: ink,
      fontFamily: set.family.join(', '),
      fontWeight: set.weight,
      fontSize: SIZE,
      whiteSpace: 'nowrap',
    },
    set.text,
  );
  const svg = await satori(text, { width: CANVAS, height: CANVAS, fonts: set.fonts });
  const { info } = await sharp(Buffer.from(svg)).trim({ lineArt: true }).toBuffer({ resolveWithObject: true });
  const [left, top] = [-(info.trimOffsetLeft ?? 0), -(info.trimOffsetTop ?? 0)];
  const room = [...set.text.normalize('NFC')].length > 1 && info.width > info.height ? TWO : ONE;
  const scale = Math.min(SCALE_MAX, room.width / info.width, room.height / info.height);
  const [width, height] = [info.width * scale, info.height * scale];
  const attributes = `x="${HALF - width / 2}" y="${HALF - height / 2}" width="${width}" height="${height}"`;
  const paths = svg.replace(/^<svg[^>]*>/, '').replace(/<\/svg>$/, '');
  return `<svg ${attributes} viewBox="${left} ${top} ${info.width} ${info.height}" overflow="visible">${paths}</svg>`;
}
