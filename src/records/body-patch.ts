/** Keeps `length` code points of the base starting at `from`, then inserts `text`. */
export type Piece = [from: number, length: number, text: string];

/** What a piece costs in a stored patch besides its text, in characters. */
const PIECE_SIZE = 12;

/**
 * The difference from `base` to `body`, field by field: in each field that differs, one replacement between its common
 * beginning and end. `repeated` is the cost of the replacements whose field has the same value in `last`, the previous
 * body. Null unless all three are JSON objects in canonical form with the same members.
 */
export function patchOf(base: string, body: string, last: string): { pieces: Piece[]; repeated: number } | null {
  const [before, after] = [fieldsOf(base), fieldsOf(body)];
  if (before === null || after === null || !isSame([...before.keys()], [...after.keys()])) return null;
  const previous = last === base ? before : fieldsOf(last);
  const pieces: Piece[] = [];
  let repeated = 0;
  // The opening brace is kept.
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
      // So is the comma or the closing brace after the field.
      length = change.end + 1;
    }
    at += size + 1;
  }
  return { pieces: [...pieces, [from, length, '']], repeated };
}

/** Applies a patch to its base. */
export function patched(base: string, pieces: readonly Piece[]): string {
  const part = hasPairs(base) ? partOfPoints([...base]) : (from: number, to: number) => base.slice(from, to);
  return pieces.map(([from, length, text]) => part(from, from + length) + text).join('');
}

function partOfPoints(points: string[]): (from: number, to: number) => string {
  return (from, to) => points.slice(from, to).join('');
}

/** The members of an object as JSON text, by name; null unless `body` is exactly their canonical sequence. */
function fieldsOf(body: string): Map<string, string> | null {
  const members = Object.entries(JSON.parse(body) as object);
  const fields = new Map(members.map(([name, value]) => [name, `${JSON.stringify(name)}:${JSON.stringify(value)}`]));
  return `{${[...fields.values()].join(',')}}` === body ? fields : null;
}

/** The lengths of the common beginning and end, in code points, and the new text between them. */
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
