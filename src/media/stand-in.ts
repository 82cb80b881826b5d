import type { FormatEnum } from 'sharp';
import type { Media } from '../desk/papers/media.ts';

/** In pixels. A stand-in has the proportions of its picture, and needs no more detail than this. */
const SIDE_MAX = 1_600;

/** The size of the stand-in for a picture whose size is unknown, in pixels. */
const UNKNOWN = { width: 1_200, height: 800 };

/** The properties of the stand-in for a media file whose bytes are missing. */
export function standInOf({ color: _, ...media }: Media): Media {
  if (media.media_type === 'image/svg+xml' || !media.media_type.startsWith('image/')) return media;
  const { width, height } = { width: media.width ?? UNKNOWN.width, height: media.height ?? UNKNOWN.height };
  const scale = Math.min(1, SIDE_MAX / Math.max(width, height));
  const scaled = (side: number): number => Math.max(1, Math.round(side * scale));
  return { ...media, width: scaled(width), height: scaled(height), duration_ms: null };
}

const [GROUND, SHAPE] = ['#d9d9d9', '#b3b3b3'];

/** A neutral picture as SVG: hills and a sun in a frame that fills it. Without words, so that it needs no language. */
function standInSvg(width: number, height: number): string {
  const side = Math.min(width, height) / 2;
  const [x, y] = [(width - side) / 2, (height - side) / 2];
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">` +
    `<rect width="${width}" height="${height}" fill="${GROUND}"/>` +
    `<svg x="${x}" y="${y}" width="${side}" height="${side}" viewBox="0 0 24 24" fill="${SHAPE}">` +
    '<path d="M2 4h20v16H2zM4 6v12h16V6z" fill-rule="evenodd"/><circle cx="15.500" cy="9.500" r="1.800"/>' +
    '<path d="M4 18l5.500-7 4 5 2.500-2.500L20 18z"/></svg></svg>'
  );
}

/** The stand-in for a media file as `standInOf` describes it; null for a video, which has none. */
export async function standIn({ media_type, width, height }: Media): Promise<Uint8Array | null> {
  if (media_type === 'text/vtt') return Buffer.from('WEBVTT\n');
  if (media_type === 'text/css') return Buffer.from('/* This stylesheet is missing. */\n');
  const [kind, format = ''] = media_type.split('/');
  if (kind !== 'image') return null;
  const svg = Buffer.from(standInSvg(width ?? UNKNOWN.width, height ?? UNKNOWN.height));
  if (format === 'svg+xml') return svg;
  const { default: sharp } = await import('sharp');
  return sharp(svg)
    .toFormat(format as keyof FormatEnum)
    .toBuffer();
}
