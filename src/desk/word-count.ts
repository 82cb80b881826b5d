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
  if (!UNSPACED.test(language)) return spacedWords(text);
  let words = 0;
  for (const part of new Intl.Segmenter(language, { granularity: 'word' }).segment(text)) {
    if (part.isWordLike) words++;
  }
  return words;
}

const [OTHER, SPACE, WORD] = [1, 2, 3];
/** What each UTF-16 unit that was seen is; 0 for one that was not. */
const KINDS = new Uint8Array(0x1_0000);

function kindAt(text: string, at: number): number {
  const code = text.codePointAt(at) ?? 0;
  const character = String.fromCodePoint(code);
  const kind = /\s/.test(character) ? SPACE : /[\p{L}\p{N}]/u.test(character) ? WORD : OTHER;
  // What half of a pair is depends on the other half.
  if (code <= 0xffff && (code & 0xf800) !== 0xd800) KINDS[code] = kind;
  return kind;
}

/** The number of parts between white space that have a letter or a number, in one pass. */
function spacedWords(text: string): number {
  let words = 0;
  let isCounted = false;
  for (let at = 0; at < text.length; at++) {
    const kind = KINDS[text.charCodeAt(at)] || kindAt(text, at);
    if (kind === SPACE) isCounted = false;
    else if (kind === WORD && !isCounted) {
      isCounted = true;
      words++;
    }
  }
  return words;
}
