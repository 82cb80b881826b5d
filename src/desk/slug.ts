import { normalized } from '../ledger/marks.ts';
import { SLUG_MAX } from '../ledger/piece.ts';

/** Space for the suffix that distinguishes pieces with the same headline. */
const TAIL = 6;

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

/** The words of a name for use in addresses: lower case, a–z and 0–9; empty for a name in another script. */
export function asciiWords(name: string): string[] {
  const plain = normalized(name, 'NFKD')
    .replace(/[\u0300-\u036f'’]/g, '')
    .toLowerCase()
    .replace(/[ßæœþðđħıłøŧ]/g, (letter) => PLAIN[letter] ?? letter);
  return plain.match(/[a-z0-9]+/g) ?? [];
}

/** A slug from the first words of a headline; empty when it has no ASCII words. */
function slugFrom(headline: string): string {
  let slug = '';
  for (const word of asciiWords(headline)) {
    const longer = slug === '' ? word : `${slug}-${word}`;
    if (longer.length > SLUG_MAX - TAIL) break;
    slug = longer;
  }
  return slug;
}

/** An unused slug for a new piece. A headline without ASCII words gets a number. */
export function freeSlug(headline: string, isTaken: (slug: string) => boolean): string {
  const base = slugFrom(headline) || 'piece';
  for (let n = 1; ; n++) {
    const slug = n === 1 ? base : `${base}-${n}`;
    if (!isTaken(slug)) return slug;
  }
}
