/** A chapter of an audio edition. */
export interface Chapter {
  /** Seconds from the start, to the millisecond. */
  time: number;
  title: string;
}

/** A media file of a paper, identified by its path under the paper's folder and by its content. */
export interface Media {
  /** Such as `media/art/metre.svg`. Also its path under the paper's root address. */
  path: string;
  /** `sha256:<hex>`. */
  digest: string;
  media_type: string;
  bytes: number;
  /** In pixels; null for captions and sounds. */
  width: number | null;
  height: number | null;
  /** Duration of a video, a sound or an animated picture; else null. */
  duration_ms: number | null;
  /** The chapters in a sound, in order; absent if there are none. */
  chapters?: Chapter[];
  /** Describes a picture for pieces that do not. Only for uploaded files. */
  alt?: string;
  /** The dominant color of an opaque picture, `#rrggbb`. Absent from records of older versions. */
  color?: string;
  /** Whether DATA_DIR lacks the file, so that a stand-in is shown. Never in a record. */
  missing?: true;
}
