import { indexText } from '../desk/search.ts';
import { pairFilter } from '../desk/word-pairs.ts';
import { bytes, integer, orNull, text } from './columns.ts';
import type { Db } from './open.ts';
import { sql } from './sql.ts';

/** The tokens of one row of the index: their number, and a sum over them. */
interface Sum {
  tokens: number;
  sum: number;
}

/** The characters at which FTS5's tokenizer `ascii` splits tokens. */
const BETWEEN_TOKENS = /[\0-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]+/;

/** How many tokens are read between two progress reports. */
const STEP = 100_000;
/** How many pieces are read at a time. */
const PIECES = 500;

/**
 * Compares the search index with the indexed pieces: their words, and every token. The index stores tokens and not the
 * texts that they are of, so both sides are reduced to one sum per piece.
 */
export function indexFaults(db: Db, progress: (done: number, total: number) => void): string[] {
  db.exec('CREATE VIRTUAL TABLE IF NOT EXISTS temp.search_tokens USING fts5vocab (main, search, instance)');
  const { all, each } = sql(db);
  const found = new Map<number, Sum>();
  let term = '';
  let value = 0;
  let done = 0;
  for (const token of each('SELECT term, doc FROM temp.search_tokens', { term: text, doc: integer })()) {
    // The tokens are sorted, with one row per piece.
    if (token.term !== term) [term, value] = [token.term, numberOf(token.term)];
    add(found, token.doc, value);
    if (++done % STEP === 0) progress(done, done);
  }
  const faults: string[] = [];
  const pieces = all(
    `SELECT s.place, p.paper, p.slug, g.headline, g.dek, g.prose, t.words, b.filter FROM searched s
     JOIN pieces p ON p.id = s.piece JOIN generations g ON g.n = s.generation
     LEFT JOIN search_texts t ON t.place = s.place LEFT JOIN search_filters b ON b.place = s.place
     WHERE s.place > ? ORDER BY s.place LIMIT ${PIECES}`,
    {
      place: integer,
      paper: text,
      slug: text,
      headline: text,
      dek: text,
      prose: text,
      words: orNull(text),
      filter: orNull(bytes),
    },
  );
  for (let last = Number.MIN_SAFE_INTEGER; ; ) {
    const page = pieces(last);
    for (const piece of page) {
      const wanted = new Map<number, Sum>();
      const { words, tokens } = indexText(piece.paper, piece);
      for (const token of new Set(tokens.split(BETWEEN_TOKENS).filter(Boolean)))
        add(wanted, piece.place, numberOf(token));
      const [is, must] = [found.get(piece.place), wanted.get(piece.place)];
      if (
        piece.words !== words ||
        !isFilter(piece.filter, words) ||
        is?.tokens !== must?.tokens ||
        is?.sum !== must?.sum
      )
        faults.push(`${piece.paper}/${piece.slug}: the search index does not hold its words`);
    }
    const end = page.at(-1);
    if (end === undefined) return faults;
    last = end.place;
  }
}

function isFilter(filter: Uint8Array | null, words: string): boolean {
  return filter !== null && Buffer.compare(filter, pairFilter(words)) === 0;
}

function add(sums: Map<number, Sum>, place: number, value: number): void {
  const sum = sums.get(place);
  if (sum === undefined) sums.set(place, { tokens: 1, sum: value });
  else {
    sum.tokens++;
    sum.sum += value;
  }
}

/** A hash of a token: 32-bit FNV-1a. */
function numberOf(token: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < token.length; at++) hash = Math.imul(hash ^ token.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
