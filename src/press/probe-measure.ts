/** What a file's content told of itself. */
export interface MediaProperties {
  width: number | null;
  height: number | null;
  duration_ms: number | null;
}

/** What a probe finds wrong: the rest of a sentence that begins with the file's path. */
export class InvalidMedia extends Error {}
