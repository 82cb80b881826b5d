/**
 * How many combining marks may follow one another. Unicode normalization sorts
 * them in quadratic time: 100,000 take five seconds. The Stream-Safe Text Format
 * (UAX #15, section 13) allows 30; no writing system needs as many. Invisible
 * characters count too, because search and comparison remove them from between
 * marks.
 */
export const MARKS_MAX = 100;

const MARK = String.raw`[\p{M}\p{Default_Ignorable_Code_Point}\uff9e\uff9f]`;
/** Anchored at a character that is not a mark, so that each run is matched once and not from each of its characters. */
const MARKS_TOO_MANY = new RegExp(String.raw`(?:^|(?!${MARK})[\s\S])${MARK}{${MARKS_MAX + 1}}`, 'u');

/** The offset at which too many combining marks follow one another, in UTF-16 units; null when there is none. */
export function tooManyMarksAt(text: string): number | null {
  return MARKS_TOO_MANY.exec(text)?.index ?? null;
}

/** A text in a normal form; unchanged when that would take long, for the caller to refuse. */
export function normalized(text: string, form: 'NFC' | 'NFKC' | 'NFKD' = 'NFC'): string {
  return tooManyMarksAt(text) === null ? text.normalize(form) : text;
}
