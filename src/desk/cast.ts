import * as z from 'zod';
import { isLine } from '../ledger/door.ts';

/** A video edition's record: `cast/<day>.yaml`, or the body of `PUT /api/v1/cast/{day}`. */
export const CastBody = z.strictObject({
  title: z
    .string()
    .min(1)
    .max(200)
    .refine(isLine, 'must be one line without control characters')
    .transform((text) => text.normalize('NFC').trim()),
  description: z.string().max(2_000).default(''),
  /** Paths under the paper's media. */
  video: z.string(),
  poster: z.string(),
  /** WebVTT captions. */
  captions: z
    .string()
    .nullish()
    .transform((path) => path ?? null),
});
export type CastBody = z.infer<typeof CastBody>;

/** The video edition of one day, with what its media files told. */
export interface Cast extends CastBody {
  /** YYYY-MM-DD, UTC. */
  day: string;
  duration_s: number;
  bytes: number;
  media_type: string;
}
