import * as z from 'zod';
import { filledLine } from '../line.ts';

/** A video edition's record: `cast/<day>.yaml`, or the body of `PUT /api/v1/cast/{day}`. */
export const CastBody = z.strictObject({
  title: filledLine(200),
  description: z.string().max(2_000).default(''),
  /** Paths of the paper's media files. */
  video: z.string(),
  poster: z.string(),
  /** WebVTT captions. */
  captions: z
    .string()
    .nullish()
    .transform((path) => path ?? null),
});
export type CastBody = z.infer<typeof CastBody>;

/** The video edition of one day, with the properties of its video file. */
export interface Cast extends CastBody {
  /** YYYY-MM-DD, UTC. */
  day: string;
  duration_s: number;
  bytes: number;
  media_type: string;
}

/** A video edition on the wire. */
export const CastRow = z
  .object({
    day: z.iso.date(),
    title: z.string(),
    video_url: z.url(),
    poster_url: z.url(),
    embed_url: z.url().meta({ description: 'A player for an iframe.' }),
    page_url: z.url(),
    duration_s: z.int().min(0),
    bytes: z.int().min(0),
    media_type: z.string(),
  })
  .meta({ id: 'CastRow', description: 'The video edition of one day.' });
export type CastRow = z.infer<typeof CastRow>;

export function castRow(cast: Cast, root: string): CastRow {
  const page_url = `${root}/cast/${cast.day}/`;
  return {
    day: cast.day,
    title: cast.title,
    video_url: `${root}/${cast.video}`,
    poster_url: `${root}/${cast.poster}`,
    embed_url: `${page_url}embed/`,
    page_url,
    duration_s: cast.duration_s,
    bytes: cast.bytes,
    media_type: cast.media_type,
  };
}
