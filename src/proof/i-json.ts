/**
 * Parses JSON as RFC 8785 requires (I-JSON, RFC 7493; protocol 1.4): no object names a member twice. `JSON.parse`
 * silently keeps the last duplicate and other parsers keep the first, so one text could show one headline to a reader
 * and another to a verifier.
 */

/** A text that is not I-JSON. `message` continues a sentence whose subject is the text. */
export class NotIJson extends Error {}

/** JSON that names a member twice, and so means different things to different readers. */
export class DuplicateMember extends NotIJson {}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Maximum length of a member's name in a message, in characters. */
const LONGEST_NAME = 80;

/** Parses a text in linear time. Throws `NotIJson`, or its subclass `DuplicateMember`. */
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

/** The first member that an object of valid JSON names twice, whatever the escaping; null when there is none. */
function duplicateMember(text: string): string | null {
  // One entry per open object or array; null for an array, which names no members.
  const open: (Set<string> | null)[] = [];
  // Whether the next string in an object is a name: true after `{` and `,`, false after `:`.
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

/** The position of the quotation mark that closes the string which begins here. */
function endOfText(text: string, start: number): number {
  let at = start + 1;
  while (text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}
