import { createHash } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import { cursorOf, readCursor } from '../responses/paging.ts';

/** Of a text in a cursor: a TXT record may be longer than an address can be. */
const SHORT = 300;

/** A cursor at a text that may be long, such as a value, beneath a head that is short. */
export function longCursor(head: string | number, text: string): string {
  if (text.length <= SHORT) return cursorOf([head, text]);
  const beginning = text.slice(0, SHORT);
  // A cut between the halves of a surrogate pair would not come back from UTF-8.
  return cursorOf([head, beginning.isWellFormed() ? beginning : text.slice(0, SHORT - 1), digestOf(text)]);
}

/**
 * Where such a cursor stands. A long text is looked for among those that begin
 * like it: `after` gives some texts that come after one, in their order. Throws
 * `invalid_request`.
 */
export function longPlace<Head extends string | number>(
  head: z.ZodType<Head>,
  cursor: string,
  after: (head: Head, text: string) => string[],
): [head: Head, text: string] {
  const place = readCursor(z.tuple([head, z.string().max(SHORT)], z.string().max(64)), cursor);
  const [at, beginning, digest] = place as [Head, string, string?];
  if (digest === undefined) return [at, beginning];
  for (let text = beginning; ; ) {
    const texts = after(at, text);
    const found = texts.find((one) => digestOf(one) === digest);
    if (found !== undefined) return [at, found];
    const last = texts.at(-1);
    // Of a text that is no longer there the list goes on where it began like it.
    if (last === undefined || !last.startsWith(beginning)) return [at, beginning];
    text = last;
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}
