/** The side of a drawn portrait, in pixels: what feed readers and previews scale down from. */
export const PORTRAIT_SIDE = 512;

/** What a drawn portrait shows, and what chooses its pattern. */
export interface Portrait {
  /** Of the persona: it stays when the persona is renamed, and so does the pattern. */
  slug: string;
  name: string;
  /** The paper's. */
  hue: number;
  language: string;
}

const LETTER = /[\p{L}\p{N}]/u;
/** Scripts in which two initials are a monogram; in others one sign of a name says as much. */
const BICAMERAL = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Armenian}]/u;

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });

/**
 * The initials of a name, in capitals: of its first and last word in scripts with
 * capitals, else its first sign. Each is a whole grapheme cluster, marks and
 * conjuncts included; emoji, quotes and other signs are passed over. Empty when the
 * name has no letter.
 */
export function monogramOf(name: string, language: string): string {
  const initials = name
    .normalize('NFC')
    .split(/\s+/u)
    .map((word) => initialOf(word, language))
    .filter((initial) => initial !== '');
  const [first = '', last = ''] = [initials[0], initials.at(-1)];
  return initials.length > 1 && BICAMERAL.test(first) && BICAMERAL.test(last) ? first + last : first;
}

function initialOf(word: string, language: string): string {
  for (const { segment } of graphemes.segment(word)) {
    if (!LETTER.test(segment)) continue;
    // A capital may be of two letters, as that of ß is.
    const [capital] = graphemes.segment(segment.toLocaleUpperCase(language).normalize('NFC'));
    return capital?.segment ?? segment;
  }
  return '';
}
