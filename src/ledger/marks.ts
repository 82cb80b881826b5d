/**
 * How many combining marks may follow one another. Unicode's normal forms sort
 * them, in a time that grows with the square of their number: 100,000 take five
 * seconds. The Stream-Safe Text Format (UAX #15, section 13) has room for 30; no
 * writing needs as many. Characters that nobody sees, which stand between marks
 * until a search or a comparison takes them out, are counted with them.
 */
export const MARKS_MAX = 100;

const MARK = String.raw`[\p{M}\p{Default_Ignorable_Code_Point}\uff9e\uff9f]`;
/** From what is no mark on: a run is looked at once and not from each of its places. */
const MARKS_TOO_MANY = new RegExp(String.raw`(?:^|(?!${MARK})[\s\S])${MARK}{${MARKS_MAX + 1}}`, 'u');

/** Where in a text more combining marks follow one another than are taken, in UTF-16 units; null when nowhere. */
export function tooManyMarksAt(text: string): number | null {
  return MARKS_TOO_MANY.exec(text)?.index ?? null;
}

/** A text in a normal form; as it is when that would take long, for somebody to refuse. */
export function normalized(text: string, form: 'NFC' | 'NFKC' | 'NFKD' = 'NFC'): string {
  return tooManyMarksAt(text) === null ? text.normalize(form) : text;
}
