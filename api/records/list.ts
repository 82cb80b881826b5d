import { createHash } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import { rejectInvalid } from '../middleware/invalid.ts';
import { cursorOf, readCursor } from '../responses/paging.ts';
import type { RecordsContext } from './route.ts';

/** The schema of a list (protocol 8.3); `more` are members beside its rows. */
export function listOf<T extends z.ZodType, M extends z.ZodRawShape = Record<never, never>>(
  id: string,
  row: T,
  more?: M,
) {
  return z
    .object({
      ...(more as M),
      items: z.array(row),
      total: z.int().min(0).describe('How many rows there are on all pages.'),
      next_cursor: z.string().nullable().describe('The cursor of the next page; null on the last one.'),
    })
    .openapi(id);
}

/** The query of a route outside the API, whose request nothing else checks. Throws `invalid_request`. */
export function validQuery<T extends z.ZodType>(c: RecordsContext, schema: T): z.output<T> {
  const data = c.req.query();
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed.data;
  throw rejectInvalid({ ...parsed, data });
}

/** Characters of a text in a cursor: a TXT record may be longer than a URL. */
const PREFIX_MAX = 300;

/** A cursor of a short head and a text. For a long text it holds the beginning and a digest. */
export function longCursor(head: string | number, text: string): string {
  if (text.length <= PREFIX_MAX) return cursorOf([head, text]);
  const beginning = text.slice(0, PREFIX_MAX);
  // Half of a surrogate pair would not survive UTF-8.
  return cursorOf([head, beginning.isWellFormed() ? beginning : text.slice(0, PREFIX_MAX - 1), digestOf(text)]);
}

export function longCursorShape<Head extends string | number>(head: z.ZodType<Head>) {
  return z.tuple([head, z.string().max(PREFIX_MAX)], z.string().max(64));
}

/**
 * Reads such a cursor. A long text is found among those with its prefix: `after` returns some texts after a given one,
 * in order. Throws `invalid_request`.
 */
export function readLongCursor<Head extends string | number>(
  shape: ReturnType<typeof longCursorShape<Head>>,
  cursor: string,
  after: (head: Head, text: string) => string[],
): [head: Head, text: string] {
  const position = readCursor(shape, cursor);
  const [at, beginning, digest] = position as [Head, string, string?];
  if (digest === undefined) return [at, beginning];
  for (let text = beginning; ; ) {
    const texts = after(at, text);
    const found = texts.find((one) => digestOf(one) === digest);
    if (found !== undefined) return [at, found];
    const last = texts.at(-1);
    // If the text is gone, the list continues at its prefix.
    if (last === undefined || !last.startsWith(beginning)) return [at, beginning];
    text = last;
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

export const wholeList = <Row>(items: Row[]) => ({ items, total: items.length, next_cursor: null });
