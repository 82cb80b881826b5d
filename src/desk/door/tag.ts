import { sha256 } from '../../proof/basis.ts';
import { normalized } from '../../shared/combining-marks.ts';

/** Signs that distinguish names: C, C++ and C#. */
const SIGNS: Record<string, string> = { '+': ' plus ', '#': ' sharp ' };
/** A letter or digit that has no equivalent in an ASCII address. */
const OTHER = /(?![a-z0-9])[\p{L}\p{N}]/u;

/**
 * A tag's slug. Names that differ only in case, accents or punctuation have the same slug. For a name with letters of
 * another script, the slug ends in a part of the name's hash.
 */
export function tagSlug(name: string): string {
  const folded = normalized(name, 'NFKC').toLowerCase();
  const words = asciiWords(folded.replace(/[+#]/g, (sign) => SIGNS[sign] ?? sign));
  const isWhole = words.length > 0 && !OTHER.test(plainLetters(folded));
  return (isWhole ? words : [...words, 'tag', sha256(folded).slice(7, 15)]).join('-');
}

/** Normalizes tags for filing: NFC, single spaces, and one tag for each slug, in its first spelling. */
export function tagsFrom(names: readonly string[]): string[] {
  const bySlug = new Map<string, string>();
  for (const name of names) {
    const tag = normalized(name).replace(/ +/g, ' ').trim();
    const slug = tagSlug(tag);
    if (!bySlug.has(slug)) bySlug.set(slug, tag);
  }
  return [...bySlug.values()];
}

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

/** A name in lower case, with plain Latin letters instead of accented ones; other scripts stay. */
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
