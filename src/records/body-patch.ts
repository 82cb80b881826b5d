/** A part of a base that is kept, by its position and length in code points, and the text that follows it. */
export type Piece = [from: number, length: number, text: string];

/** What a body repeats of the one before it costs a little more than its characters. */
const PIECE_SIZE = 12;

/**
 * What `body` changes in `base`, field by field: of each field that differs, all between its common beginning and end.
 * `repeated` counts the characters that differ from the base and were in `last` already. Null unless all are JSON
 * objects in canonical form with the same members.
 */
export function patchOf(base: string, body: string, last: string): { pieces: Piece[]; repeated: number } | null {
  const [before, after] = [fieldsOf(base), fieldsOf(body)];
  if (before === null || after === null || !isSame([...before.keys()], [...after.keys()])) return null;
  const previous = last === base ? before : fieldsOf(last);
  const pieces: Piece[] = [];
  let repeated = 0;
  // The opening brace.
  let [from, length, at] = [0, 1, 1];
  for (const [name, old] of before) {
    const field = after.get(name) ?? '';
    const size = sizeOf(old);
    if (field === old) length += size + 1;
    else {
      const change = changeOf(old, field);
      pieces.push([from, length + change.start, change.text]);
      if (previous?.get(name) === field) repeated += change.text.length + PIECE_SIZE;
      from = at + size - change.end;
      // A comma follows, or the closing brace.
      length = change.end + 1;
    }
    at += size + 1;
  }
  return { pieces: [...pieces, [from, length, '']], repeated };
}

/** The body that a patch makes of its base. */
export function patched(base: string, pieces: readonly Piece[]): string {
  const part = hasPairs(base) ? partOfPoints([...base]) : (from: number, to: number) => base.slice(from, to);
  return pieces.map(([from, length, text]) => part(from, from + length) + text).join('');
}

function partOfPoints(points: string[]): (from: number, to: number) => string {
  return (from, to) => points.slice(from, to).join('');
}

/** The members of an object by their names, as they are in its text; null unless the text is exactly their sequence. */
function fieldsOf(body: string): Map<string, string> | null {
  const members = Object.entries(JSON.parse(body) as object);
  const fields = new Map(members.map(([name, value]) => [name, `${JSON.stringify(name)}:${JSON.stringify(value)}`]));
  return `{${[...fields.values()].join(',')}}` === body ? fields : null;
}

/** The lengths of the common beginning and end, in code points, and what is between them in the new text. */
function changeOf(old: string, text: string): { start: number; end: number; text: string } {
  const [before, after] = [[...old], [...text]];
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start++;
  let end = 0;
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  return { start, end, text: after.slice(start, after.length - end).join('') };
}

function hasPairs(text: string): boolean {
  return /[\ud800-\udbff]/.test(text);
}

function sizeOf(text: string): number {
  return hasPairs(text) ? [...text].length : text.length;
}

function isSame(a: string[], b: string[]): boolean {
  return a.length === b.length && a.every((name, index) => name === b[index]);
}
