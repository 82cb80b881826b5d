import { normalized } from './marks.ts';

/** Letters with a stroke, and ligatures, which no normalization form decomposes. */
const PLAIN: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
  ð: 'd',
  đ: 'd',
  ħ: 'h',
  ı: 'i',
  ł: 'l',
  ø: 'o',
  ŧ: 't',
};

/** A name in lower case, with letters of the Latin alphabet for accented ones; other scripts stay. */
export function plainLetters(name: string): string {
  return normalized(name, 'NFKD')
    .replace(/[\u0300-\u036f'’]/g, '')
    .toLowerCase()
    .replace(/[ßæœþðđħıłøŧ]/g, (letter) => PLAIN[letter] ?? letter);
}

/** The words of a name for use in addresses: lower case, a–z and 0–9; empty for a name in another script. */
export function asciiWords(name: string): string[] {
  return plainLetters(name).match(/[a-z0-9]+/g) ?? [];
}
