import { readFile, stat } from 'node:fs/promises';
import sharp from 'sharp';
import type { Media } from '../desk/papers/media.ts';
import { sha256 } from '../proof/basis.ts';
import { Fault } from '../shared/fault.ts';
import { digestOfFile } from '../shared/files/file-digest.ts';
import { InvalidStyle, inspectCss } from './inspect-css.ts';
import { inspectMp3 } from './inspect-mp3.ts';
import { inspectMp4 } from './inspect-mp4.ts';
import { inspectSvg } from './inspect-svg.ts';
import { reading } from './media-bytes.ts';
import { formatOf, InvalidMedia, MEDIA_FORMATS, type MediaProperties } from './media-formats.ts';

export const IMAGE_PIXELS_MAX = 100_000_000;

/** The pictures that sharp reads, by the format that it finds. */
const PICTURES: Readonly<Record<string, string>> = { jpeg: 'JPEG', png: 'PNG', webp: 'WebP', avif: 'AVIF', gif: 'GIF' };

/**
 * Checks by its content that a media file is complete and has the format of its extension. `path` is its path under
 * the paper's folder, such as `media/art/metre.svg`. `source` is its bytes, or its path on disk, in which case a
 * video or a sound is never loaded whole into memory. Throws a `Fault` with the problem and the remedy.
 */
export async function inspectMedia(path: string, source: Uint8Array | string): Promise<Media> {
  try {
    const format = formatOf(path);
    if (format === null)
      throw new InvalidMedia(`is not in a supported format; use one of ${Object.keys(MEDIA_FORMATS).join(' ')}`);
    const bytes = typeof source === 'string' ? (await stat(source)).size : source.byteLength;
    if (bytes === 0) throw new InvalidMedia('is empty; send it again');
    if (bytes > format.bytes_max) {
      throw new InvalidMedia(`has ${bytes} bytes, more than the ${format.bytes_max} that are allowed; make it smaller`);
    }
    const properties = await propertiesOf(format.media_type, source, bytes);
    const digest = typeof source === 'string' ? await digestOfFile(source) : sha256(source);
    return { path, digest, media_type: format.media_type, bytes, ...properties };
  } catch (error) {
    if (error instanceof InvalidMedia) {
      const line = error instanceof InvalidStyle ? { line: error.line } : {};
      throw new Fault('invalid_request', `${path} ${error.message}.`, { path, ...line });
    }
    throw error;
  }
}

async function propertiesOf(media_type: string, source: Uint8Array | string, size: number): Promise<MediaProperties> {
  if (media_type === 'audio/mpeg') return reading(source, (read) => inspectMp3(read, size));
  if (media_type.endsWith('/mp4')) return reading(source, (read) => inspectMp4(read, size, media_type));
  const bytes = typeof source === 'string' ? await readFile(source) : source;
  if (media_type === 'image/svg+xml') return inspectSvg(textOf(bytes));
  if (media_type === 'text/css') return inspectCss(textOf(bytes));
  if (media_type === 'text/vtt') return captionsProperties(textOf(bytes));
  const format = media_type.slice('image/'.length);
  return pictureProperties(bytes, format, PICTURES[format] ?? format);
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new InvalidMedia('is not UTF-8 text; save it as UTF-8');
  }
}

async function pictureProperties(bytes: Uint8Array, format: string, name: string): Promise<MediaProperties> {
  const image = sharp(bytes, { failOn: 'error', animated: true, limitInputPixels: IMAGE_PIXELS_MAX });
  const meta = await image.metadata().catch((cause: Error) => {
    throw /pixel limit/i.test(cause.message)
      ? new InvalidMedia(`has more than ${IMAGE_PIXELS_MAX / 1_000_000} million pixels; make it smaller`)
      : new InvalidMedia(`is not a ${name} picture that can be read; export it again as ${name}`);
  });
  const found: string = meta.format === 'heif' && meta.compression === 'av1' ? 'avif' : meta.format;
  if (found !== format) {
    throw new InvalidMedia(
      `holds ${found.toUpperCase()}, not ${name} as its name says; rename it or export it as ${name}`,
    );
  }
  // Only decoding every pixel proves that the file is complete.
  const stats = await image.stats().catch(() => {
    throw new InvalidMedia(`is truncated or damaged: its pixels cannot all be read; send the whole ${name} file again`);
  });
  const { width, height } = meta.autoOrient;
  const isAnimated = (meta.pages ?? 1) > 1;
  return {
    width,
    height: isAnimated && meta.pageHeight ? meta.pageHeight : height,
    duration_ms: isAnimated ? (meta.delay ?? []).reduce((sum, delay) => sum + delay, 0) : null,
    ...(stats.isOpaque ? { color: hexOf(stats.dominant) } : {}),
  };
}

function hexOf({ r, g, b }: { r: number; g: number; b: number }): string {
  return `#${[r, g, b].map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}

function captionsProperties(text: string): MediaProperties {
  if (!/^\ufeff?WEBVTT(?:[ \t\r\n]|$)/.test(text)) {
    throw new InvalidMedia('does not begin with WEBVTT; export the captions as WebVTT');
  }
  return { width: null, height: null, duration_ms: null };
}
