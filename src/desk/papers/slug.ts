import anyAscii from 'any-ascii';
import { MAX } from '../door/piece.ts';
import { asciiWords, plainLetters } from '../door/tag.ts';

/** Room for the suffix that distinguishes pieces with the same headline. */
const TAIL = 6;

/** The words of a name for use in addresses: a–z and 0–9. Other scripts are transliterated. */
export function latinWords(name: string): string[] {
  return asciiWords(anyAscii(plainLetters(name)));
}

/** A slug from the first words of a headline; empty when no letter in it can be transliterated. */
function slugFrom(headline: string): string {
  let slug = '';
  for (const word of latinWords(headline)) {
    const longer = slug === '' ? word : `${slug}-${word}`;
    if (longer.length > MAX.slug - TAIL) break;
    slug = longer;
  }
  return slug;
}

/** An unused slug for a new piece. A headline without letters gets a number. */
export function freeSlug(headline: string, isTaken: (slug: string) => boolean): string {
  const base = slugFrom(headline) || 'piece';
  for (let n = 1; ; n++) {
    const slug = n === 1 ? base : `${base}-${n}`;
    if (!isTaken(slug)) return slug;
  }
}
