import { z } from '@hono/zod-openapi';
import { Fault } from '../../src/shared/fault.ts';

/** A whole number of rows, or of the things that `counted` names, clamped to its range (protocol 8.3). */
export function limitParam(fallback: number, max: number, counted = 'rows') {
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
      description: `How many ${counted}, 1 to ${max}. Numbers outside that range are clamped.`,
      example: fallback,
    });
}

export const cursorParam = z.string().optional().openapi({ description: '`next_cursor` of the previous response.' });

/** Encodes a position in a list as an opaque string. */
export function cursorOf(position: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url');
}

/** Decodes a cursor from `cursorOf`; empty without one. Throws `invalid_request`. */
export function readCursor<T extends z.ZodType>(shape: T, cursor: string): z.infer<T>;
export function readCursor<T extends z.ZodType>(shape: T, cursor: string | undefined): z.infer<T> | [];
export function readCursor<T extends z.ZodType>(shape: T, cursor: string | undefined): z.infer<T> | [] {
  if (cursor === undefined) return [];
  let position: unknown;
  try {
    position = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    position = undefined;
  }
  const parsed = shape.safeParse(position);
  // A position has one spelling: any other cursor was not issued by this server.
  if (parsed.success && Buffer.from(JSON.stringify(position)).toString('base64url') === cursor) return parsed.data;
  throw new Fault(
    'invalid_request',
    `cursor ${JSON.stringify(cursor.slice(0, 80))} was not issued by this server; pass next_cursor of a response unchanged, or leave cursor out`,
    { field: 'cursor' },
  );
}

/** A page from rows that were read with one more than `limit`, and the cursor of the next page; null at the end. */
export function pageOf<T>(rows: T[], limit: number, cursorAt: (last: T) => string): { rows: T[]; next: string | null } {
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return { rows: rows.slice(0, limit), next: last === undefined ? null : cursorAt(last) };
}

/** The `Link` to the next page of a list (RFC 8288), which repeats this page's query; null at the end. */
export function nextLink(address: string, query: Record<string, unknown>, cursor: string | null): string | null {
  if (cursor === null) return null;
  const given = Object.entries({ ...query, cursor }).filter(([, value]) => value !== undefined);
  return `<${address}?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}>; rel="next"`;
}
