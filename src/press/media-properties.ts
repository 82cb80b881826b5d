/** The properties that inspection reads from a media file's content. */
export interface MediaProperties {
  width: number | null;
  height: number | null;
  duration_ms: number | null;
  /** The dominant colour of an opaque picture, `#rrggbb`. */
  color?: string;
}

/** A rejected media file. The message completes a sentence that begins with the file's path. */
export class InvalidMedia extends Error {}

/** The most bytes of a video, which is the largest media file. */
export const VIDEO_BYTES_MAX = 500 * 1024 * 1024;
