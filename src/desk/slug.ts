import { SLUG_MAX } from '../ledger/piece.ts';

/** Room for what tells a second piece of the same headline from the first. */
const TAIL = 6;

/** A slug from a headline: its words in ASCII; empty when the headline has none, as in another script. */
function slugFrom(headline: string): string {
  const words = headline
    .normalize('NFKD')
    .replace(/[\u0300-\u036f'’]/g, '')
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  let slug = '';
  for (const word of words ?? []) {
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
