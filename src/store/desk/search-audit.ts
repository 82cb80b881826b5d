import { indexText } from '../../desk/search.ts';
import { type Db, integer, sql, text } from '../../shared/sql/sql.ts';

/** A summary of the words in a row of the index: their number, and a sum over the words and their positions. */
interface Sum {
  words: number;
  sum: number;
}

/** The characters at which FTS5's tokenizer `ascii` splits words. */
const BETWEEN_WORDS = /[\0-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]+/;

/** How many words are read between two progress reports. */
const STEP = 100_000;
/** How many pieces are read at a time. */
const PIECES = 500;

/**
 * Compares every word of the search index with the indexed pieces. The index stores only words and positions, not
 * texts, so both sides are reduced to one sum per piece.
 */
export function indexFaults(db: Db, progress: (done: number, total: number) => void): string[] {
  db.exec('CREATE VIRTUAL TABLE IF NOT EXISTS temp.search_words USING fts5vocab (main, search, instance)');
  const { all, each } = sql(db);
  const found = new Map<number, Sum>();
  let term = '';
  let value = 0;
  let done = 0;
  const words = each('SELECT term, doc, "offset" FROM temp.search_words', {
    term: text,
    doc: integer,
    offset: integer,
  });
  for (const word of words()) {
    // The words are sorted, with one row per occurrence.
    if (word.term !== term) [term, value] = [word.term, numberOf(word.term)];
    add(found, word.doc, value, word.offset);
    if (++done % STEP === 0) progress(done, done);
  }
  const faults: string[] = [];
  const pieces = all(
    `SELECT s.place, p.paper, p.slug, g.headline, g.dek, g.prose FROM searched s
     JOIN pieces p ON p.id = s.piece JOIN generations g ON g.n = s.generation WHERE s.place > ? ORDER BY s.place LIMIT ${PIECES}`,
    { place: integer, paper: text, slug: text, headline: text, dek: text, prose: text },
  );
  for (let last = Number.MIN_SAFE_INTEGER; ; ) {
    const page = pieces(last);
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

/** A hash of a word: 32-bit FNV-1a. */
function numberOf(word: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
