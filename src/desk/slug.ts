import { asciiWords } from '../ledger/ascii-words.ts';
import { SLUG_MAX } from '../ledger/piece.ts';

/** Space for the suffix that distinguishes pieces with the same headline. */
const TAIL = 6;

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
