/** Languages written without spaces, which need a dictionary to separate words. */
const UNSPACED = /^(?:ja|zh|th|km|lo|my)\b/i;

/** Markers and link targets, which do not count as words. */
const MARK_UP = /\[\^\d+\]|\]\([^)\s]*(\)?)/g;
const MARKER = /\[\^\d+\]/g;

/** The number of words in a prose, by the rules of its language. */
export function wordCount(prose: string, language: string): number {
  // Also matches a target without an end: matching again within it would take quadratic time.
  const text = prose.replace(MARK_UP, (found, end: string | undefined) =>
    end === '' ? found.replace(MARKER, ' ') : ' ',
  );
  if (!UNSPACED.test(language)) return text.split(/\s+/).filter((part) => /[\p{L}\p{N}]/u.test(part)).length;
  let words = 0;
  for (const part of new Intl.Segmenter(language, { granularity: 'word' }).segment(text)) {
    if (part.isWordLike) words++;
  }
  return words;
}
