import { sha256 } from '../proof/basis.ts';

/** The side of a drawn portrait, in pixels. Feed readers and previews scale it down. */
export const PORTRAIT_SIDE = 512;

export interface Portrait {
  /** The persona's slug. It survives a change of name, and so does the pattern. */
  slug: string;
  name: string;
  hue: number;
  language: string;
}

/** Names a drawn portrait by everything that decides its bytes. `code` identifies the drawing code. */
export function portraitId({ slug, name, hue, language }: Portrait, code: string): string {
  return sha256(JSON.stringify(['portrait', code, slug, name, hue, language])).slice(7, 27);
}

const LETTER = /[\p{L}\p{N}]/u;
/** Scripts in which two initials form a monogram. In other scripts the first sign of a name is as distinctive. */
const BICAMERAL = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Armenian}]/u;

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });

/** Capitals of first and last word in scripts that have them, else the first grapheme; empty without a letter. */
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
    // A capital may have two letters, such as that of ß.
    const [capital] = graphemes.segment(segment.toLocaleUpperCase(language).normalize('NFC'));
    return capital?.segment ?? segment;
  }
  return '';
}
