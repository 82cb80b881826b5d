import { indexText } from '../desk/search.ts';
import type { Db } from './open.ts';

interface Indexed {
  place: number;
  paper: string;
  slug: string;
  headline: string;
  dek: string;
  prose: string;
}

/** Of one place in the index: how many words it holds, and the sum of what each of them and its number come to. */
interface Sum {
  words: number;
  sum: number;
}

/** What FTS5's tokenizer `ascii` takes apart words at. */
const BETWEEN_WORDS = /[\0-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]+/;

/** How often progress is told, in words and in pieces. */
const STEP = 100_000;
const PIECES = 500;

/**
 * Holds every word of the search index against the pieces that it indexes. The
 * index keeps no texts, only which words stand where: both sides are summed up, a number for each piece.
 */
export function indexFaults(db: Db, progress: (done: number, total: number) => void): string[] {
  db.exec('CREATE VIRTUAL TABLE IF NOT EXISTS temp.search_words USING fts5vocab (main, search, instance)');
  const found = new Map<number, Sum>();
  let term = '';
  let value = 0;
  let done = 0;
  for (const row of db.prepare('SELECT term, doc, "offset" FROM temp.search_words').raw().iterate()) {
    const [word, place, offset] = row as [string, number, number];
    // Words come in their order, each as often as it stands somewhere.
    if (word !== term) [term, value] = [word, numberOf(word)];
    add(found, place, value, offset);
    if (++done % STEP === 0) progress(done, done);
  }
  const faults: string[] = [];
  const pieces = db.prepare(
    `SELECT s.place, p.paper, p.slug, g.headline, g.dek, g.prose FROM searched s
     JOIN pieces p ON p.id = s.piece JOIN generations g ON g.n = s.generation WHERE s.place > ? ORDER BY s.place LIMIT ${PIECES}`,
  );
  for (let last = Number.MIN_SAFE_INTEGER; ; ) {
    const page = pieces.all(last) as Indexed[];
    for (const piece of page) {
      const wanted = new Map<number, Sum>();
      const words = indexText(piece.paper, piece).split(BETWEEN_WORDS).filter(Boolean);
      for (const [offset, word] of words.entries()) add(wanted, piece.place, numberOf(word), offset);
      const [is, must] = [found.get(piece.place), wanted.get(piece.place)];
      if (is?.words !== must?.words || is?.sum !== must?.sum)
        faults.push(`${piece.paper}/${piece.slug}: the search index does not hold its words`);
    }
    const end = page.at(-1);
    if (end === undefined) return faults;
    last = end.place;
  }
}

function add(sums: Map<number, Sum>, place: number, value: number, offset: number): void {
  const sum = sums.get(place);
  const weight = (value * (offset + 1)) % 2 ** 40;
  if (sum === undefined) sums.set(place, { words: 1, sum: weight });
  else {
    sum.words++;
    sum.sum = (sum.sum + weight) % 2 ** 40;
  }
}

/** A number that tells words apart (32-bit FNV-1a). */
function numberOf(word: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
