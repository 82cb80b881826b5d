/**
 * JSON as RFC 8785 wants it (I-JSON, RFC 7493): no object names a member twice.
 * `JSON.parse` keeps the last of two and says nothing, other readers keep the first:
 * one text would show one headline to a reader and another to a verifier. Nothing
 * here hashes: a reader's browser reads documents by it too.
 */

/** A text that is not I-JSON; `message` goes on from its name. */
export class NotIJson extends Error {}

/** JSON that names a member twice, and so means different things to different readers. */
export class DuplicateMember extends NotIJson {}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** How much of a member's name a message quotes, in characters. */
const LONGEST_NAME = 80;

/** Parses a text in time that grows with its length. Throws `NotIJson`, or `NamedTwice` among it. */
export function parseIJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new NotIJson('is not JSON', { cause });
  }
  const twice = duplicateMember(text);
  if (twice !== null)
    throw new DuplicateMember(`names the member ${JSON.stringify(twice.slice(0, LONGEST_NAME))} twice`);
  return value;
}

/** The first member that an object names twice, in any spelling; null without one. The text must be JSON. */
function duplicateMember(text: string): string | null {
  // One for each object or list that is open; a list names nothing.
  const open: (Set<string> | null)[] = [];
  // Whether the next text in an object is a name: it is after `{` and `,`, and not after `:`.
  let isName = false;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (sign === '{') {
      open.push(new Set());
      isName = true;
    } else if (sign === '[') {
      open.push(null);
    } else if (sign === '}' || sign === ']') {
      open.pop();
      isName = false;
    } else if (sign === ',') {
      isName = true;
    } else if (sign === '"') {
      const end = endOfText(text, at);
      const names = isName ? open.at(-1) : null;
      if (names != null) {
        const raw = text.slice(at, end + 1);
        const name = raw.includes('\\') ? String(JSON.parse(raw)) : raw.slice(1, -1);
        if (names.has(name)) return name;
        names.add(name);
        isName = false;
      }
      at = end;
    }
  }
  return null;
}

/** Where the quotation mark is that ends the text which begins here. */
function endOfText(text: string, start: number): number {
  let at = start + 1;
  while (text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}
