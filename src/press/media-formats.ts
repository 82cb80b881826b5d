import { extname } from 'node:path';
import { VIDEO_BYTES_MAX } from './media-properties.ts';

const MIB = 1024 * 1024;
export const IMAGE_BYTES_MAX = 20 * MIB;
export const STYLE_BYTES_MAX = 800_000;
export const CAPTIONS_BYTES_MAX = 5_000_000;

/** What a paper holds: the media type of files with an extension, and their largest size, in bytes. */
export interface MediaFormat {
  media_type: string;
  bytes_max: number;
}

const picture = (media_type: string): MediaFormat => ({ media_type, bytes_max: IMAGE_BYTES_MAX });

/** The accepted media formats, by extension. */
export const MEDIA_FORMATS: Readonly<Record<string, MediaFormat>> = {
  '.jpg': picture('image/jpeg'),
  '.jpeg': picture('image/jpeg'),
  '.png': picture('image/png'),
  '.webp': picture('image/webp'),
  '.avif': picture('image/avif'),
  '.gif': picture('image/gif'),
  '.svg': picture('image/svg+xml'),
  '.css': { media_type: 'text/css', bytes_max: STYLE_BYTES_MAX },
  '.mp4': { media_type: 'video/mp4', bytes_max: VIDEO_BYTES_MAX },
  '.vtt': { media_type: 'text/vtt', bytes_max: CAPTIONS_BYTES_MAX },
};

/** The format of a path, by its extension; null when a paper holds none such. */
export function formatOf(path: string): MediaFormat | null {
  return MEDIA_FORMATS[extname(path).toLowerCase()] ?? null;
}

/** The usual extension of a media type; null when a paper holds none such. */
export function extensionOf(media_type: string): string | null {
  return Object.entries(MEDIA_FORMATS).find(([, format]) => format.media_type === media_type)?.[0] ?? null;
}
