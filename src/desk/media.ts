/** A media file of a paper, known by its path under the paper's folder and by its content. */
export interface Media {
  /** Such as `media/art/metre.svg`. It is also its address under the paper's root. */
  path: string;
  /** `sha256:<hex>`. */
  digest: string;
  media_type: string;
  bytes: number;
  /** In pixels; null for captions and sounds. */
  width: number | null;
  height: number | null;
  /** Of a video; else null. */
  duration_ms: number | null;
}
