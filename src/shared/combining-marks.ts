/**
 * Maximum number of consecutive combining marks. Unicode normalization sorts them in quadratic time: 100,000 take
 * five seconds. The Stream-Safe Text Format (UAX #15, section 13) allows 30; no writing system needs more. Invisible
 * characters count too, because search and comparison remove them from between marks.
 */
export const MARKS_MAX = 100;

const MARK = String.raw`[\p{M}\p{Default_Ignorable_Code_Point}\uff9e\uff9f]`;
/** Anchored at a character that is not a mark, so that each run is matched once instead of once per character. */
const MARKS_TOO_MANY = new RegExp(String.raw`(?:^|(?!${MARK})[\s\S])${MARK}{${MARKS_MAX + 1}}`, 'u');

const MARK_OR_SURROGATE = new RegExp(`${MARK}|[\\ud800-\\udfff]`, 'u');

/** The offset of a run of too many combining marks, in UTF-16 units; null when there is none. */
export function tooManyMarksAt(text: string): number | null {
  return mayHaveTooMany(text) ? (MARKS_TOO_MANY.exec(text)?.index ?? null) : null;
}

/** Such a run covers one of every 101 characters, so looking at these alone clears most texts. */
function mayHaveTooMany(text: string): boolean {
  for (let at = MARKS_MAX; at < text.length; at += MARKS_MAX + 1) {
    if (text.charCodeAt(at) > 0x7f && MARK_OR_SURROGATE.test(text.charAt(at))) return true;
  }
  return false;
}

/** Normalizes a text. Returns it unchanged when that would take too long; the caller must reject it. */
export function normalized(text: string, form: 'NFC' | 'NFKC' | 'NFKD' = 'NFC'): string {
  return tooManyMarksAt(text) === null ? text.normalize(form) : text;
}
