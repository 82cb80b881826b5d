import { normalized } from '../ledger/marks.ts';
import { SLUG_MAX } from '../ledger/piece.ts';

/** Room for what tells a second piece of the same headline from the first. */
const TAIL = 6;

/** Letters that are another one with a stroke, or two in one, which no normal form takes apart. */
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

/** The words of a name as an address has them: lower case, a–z and 0–9; none when it is in another script. */
export function asciiWords(name: string): string[] {
  const plain = normalized(name, 'NFKD')
    .replace(/[\u0300-\u036f'’]/g, '')
    .toLowerCase()
    .replace(/[ßæœþðđħıłøŧ]/g, (letter) => PLAIN[letter] ?? letter);
  return plain.match(/[a-z0-9]+/g) ?? [];
}

/** A slug from a headline: its first words; empty when it has none in ASCII. */
function slugFrom(headline: string): string {
  let slug = '';
  for (const word of asciiWords(headline)) {
    const longer = slug === '' ? word : `${slug}-${word}`;
    if (longer.length > SLUG_MAX - TAIL) break;
    slug = longer;
  }
  return slug;
}

/** A slug for a new piece that no other has; a headline without ASCII words is numbered. */
export function freeSlug(headline: string, isTaken: (slug: string) => boolean): string {
  const base = slugFrom(headline) || 'piece';
  for (let n = 1; ; n++) {
    const slug = n === 1 ? base : `${base}-${n}`;
    if (!isTaken(slug)) return slug;
  }
}
