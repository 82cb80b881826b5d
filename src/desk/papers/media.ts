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
  /** The chapters that a sound contains, in order; without the member, none. */
  chapters?: Chapter[];
  /** What a picture shows, for pieces that do not say it themselves. Of files that were uploaded. */
  alt?: string;
  /** The dominant colour of an opaque picture, `#rrggbb`. Not in the records of older versions. */
  color?: string;
  /** Whether DATA_DIR does not hold its bytes, so that a stand-in is shown. Never in a record. */
  missing?: true;
}
