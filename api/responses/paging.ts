import { z } from '@hono/zod-openapi';
import { Fault } from '../../src/fault.ts';

/** A whole number that is taken into its range, as the spec says of `limit`. */
export function limitParam(fallback: number, max: number) {
  return z
    .string()
    .regex(/^[+-]?\d{1,100}$/, `must be a whole number from 1 to ${max}`)
    .transform((text) => Math.min(max, Math.max(1, Number(text))))
    .default(fallback)
    .openapi({
      type: 'integer',
      minimum: 1,
      maximum: max,
      default: fallback,
      description: `How many rows, 1 to ${max}. A number beyond is taken as the nearest of these.`,
      example: fallback,
    });
}

export const cursorParam = z
  .string()
  .optional()
  .openapi({ description: '`next_cursor` of the answer before; it goes on from there.' });

/** A place in a list as an opaque word. */
export function cursorOf(place: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

/** Reads a cursor of ours. Throws `invalid_request`. */
export function readCursor<T extends z.ZodType>(shape: T, cursor: string): z.infer<T> {
  let place: unknown;
  try {
    place = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    place = undefined;
  }
  const parsed = shape.safeParse(place);
  if (parsed.success && cursorOf(place as string[]) === cursor) return parsed.data;
  throw new Fault(
    'invalid_request',
    `cursor ${JSON.stringify(cursor.slice(0, 80))} is none of ours; take next_cursor of an answer as it is, or leave cursor out`,
    { field: 'cursor' },
  );
}
