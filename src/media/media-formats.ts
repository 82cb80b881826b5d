import { extname } from 'node:path';
import type { Media } from '../desk/papers/media.ts';

const MIB = 1024 * 1024;
export const IMAGE_BYTES_MAX = 20 * MIB;
/** The most bytes of a video or a sound, which are the largest media files. */
export const VIDEO_BYTES_MAX = 500 * MIB;

/** The most chapters of a sound, and the longest title, in UTF-16 units. */
export const CHAPTERS_MAX = 500;
export const CHAPTER_TITLE_MAX = 200;

/** A format that papers accept: the media type for its extension, and the largest size in bytes. */
interface MediaFormat {
  media_type: string;
  bytes_max: number;
}

const picture = (media_type: string): MediaFormat => ({ media_type, bytes_max: IMAGE_BYTES_MAX });

export const MEDIA_FORMATS: Readonly<Record<string, MediaFormat>> = {
  '.jpg': picture('image/jpeg'),
  '.jpeg': picture('image/jpeg'),
  '.png': picture('image/png'),
  '.webp': picture('image/webp'),
  '.avif': picture('image/avif'),
  '.gif': picture('image/gif'),
  '.svg': picture('image/svg+xml'),
  '.css': { media_type: 'text/css', bytes_max: 800_000 },
  '.mp4': { media_type: 'video/mp4', bytes_max: VIDEO_BYTES_MAX },
  '.mp3': { media_type: 'audio/mpeg', bytes_max: VIDEO_BYTES_MAX },
  '.m4a': { media_type: 'audio/mp4', bytes_max: VIDEO_BYTES_MAX },
  '.vtt': { media_type: 'text/vtt', bytes_max: 5_000_000 },
};

/** The format of a path, by its extension; null when papers do not accept it. */
export function formatOf(path: string): MediaFormat | null {
  return MEDIA_FORMATS[extname(path).toLowerCase()] ?? null;
}

/** Other names of these types, by browsers and Apple. */
const ALIASES: Readonly<Record<string, string>> = { 'audio/mp3': 'audio/mpeg', 'audio/x-m4a': 'audio/mp4' };

export const properType = (media_type: string): string => ALIASES[media_type] ?? media_type;

/** The usual extension of a media type; null when papers do not accept it. */
export function extensionOf(media_type: string): string | null {
  return Object.entries(MEDIA_FORMATS).find(([, format]) => format.media_type === media_type)?.[0] ?? null;
}

/** The properties that are read from the content of a media file. */
export type MediaProperties = Pick<Media, 'width' | 'height' | 'duration_ms' | 'color' | 'chapters'>;

/** A rejected media file. The message completes a sentence that begins with the file's path. */
export class InvalidMedia extends Error {}
