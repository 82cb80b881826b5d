import { Fault } from '../fault.ts';
import { normalized } from '../ledger/marks.ts';
import { plainText } from '../ledger/prose.ts';
import { cachedWords } from './prose-cache.ts';

/** The longest query, in characters (Unicode code points) after trimming. */
export const QUERY_MAX = 120;
/** How many terms a query may hold. */
export const TERMS_MAX = 4;
/** How many rows a search answers at most. */
export const SEARCH_ROWS = 30;

/**
 * Counts the changes of the folding below. An index that was made under
 * another number is made again when its database is opened.
 */
export const NORMALIZER_VERSION = 1;

/** Stands between two fields, so that no phrase reaches from one into the next; the folding gives it for no text. */
const BORDER = '\u{E000}';
/** Begins the word that names a paper; the folding gives it for no text either. */
const PAPER_MARK = '\u{E001}';

/** Characters that nobody sees, and the stroke that only stretches Arabic words. A zero-width space parts words. */
const INVISIBLE = /[[\p{Default_Ignorable_Code_Point}\u0640]--\u200b]/gv;
/**
 * Accents, Hebrew points and Arabic vowel marks. Vowel signs and viramas of
 * Devanagari, Thai and their kin are letters to their readers, and so are the
 * two voicing marks of kana.
 */
const ACCENT =
  /[[\p{Mn}&&[\p{sc=Inherited}\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Hebrew}\p{sc=Arabic}\p{sc=Syriac}]]--[\u3099\u309a]]/gv;
/** Letters that are another one with a stroke, or two in one, which no normal form takes apart. */
const PLAIN_LETTERS: Record<string, string> = { æ: 'ae', đ: 'd', ħ: 'h', ł: 'l', ø: 'o', œ: 'oe', ŧ: 't', ς: 'σ' };
const SPECIAL = /[æđħłøœŧς]/g;
/** What words are made of. */
const NON_WORD = /[^\p{L}\p{M}\p{N}]+/gv;
/** Characters of the scripts that put no blanks between words. */
const UNSPACED =
  /[[\p{L}\p{M}\p{N}]&&[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]]/gv;
const ENDS_UNSPACED = new RegExp(`${UNSPACED.source}$`, 'v');
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/v;

/**
 * A text as the index holds it and as a query is compared with it: words
 * parted by one blank, without case and accents; where a script puts no blanks
 * between words, each character is a word of its own.
 */
export function searchText(text: string): string {
  return text.split('\n').map(normalizeLine).filter(Boolean).join(' ');
}

function normalizeLine(line: string): string {
  // Most lines need no more than this: typographic quotes and dashes folded away, nothing but ASCII is left.
  const ascii = line.replace(/[\u2010-\u2027\u2030-\u205e]/g, ' ');
  if (/^[\0-\x7f]*$/.test(ascii)) {
    return ascii
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, ' ')
      .trim();
  }
  return normalized(
    normalized(line, 'NFKD')
      .replace(INVISIBLE, '')
      .replace(ACCENT, '')
      // To upper case and back: that folds ß and the dotless i as Unicode's full case folding does.
      .toLowerCase()
      .toUpperCase()
      .toLowerCase()
      .replace(SPECIAL, (letter) => PLAIN_LETTERS[letter] ?? letter),
  )
    .replace(UNSPACED, ' $& ')
    .replace(NON_WORD, ' ')
    .trim();
}

/** The word of the index that names the paper. */
function paperWord(paper: string): string {
  return `${PAPER_MARK}${paper.replaceAll('-', PAPER_MARK)}`;
}

/** What the index holds of a piece: the paper's word, then headline, dek and prose as their readers see them. */
export function indexText(paper: string, piece: { headline: string; dek: string; prose: string }): string {
  const { headline, dek, prose } = piece;
  const words = cachedWords(prose) ?? proseWords(plainText(prose));
  return [paperWord(paper), searchText(headline), searchText(dek), words].join(` ${BORDER} `);
}

/**
 * How many different words of a piece the index holds: those that come first. No prose has as many, but hexadecimal
 * dumps do, and writing the beginnings of all their words would make everybody wait.
 */
const WORDS_MAX = 15_000;

/** The words of a prose as the index holds them; `plain` is its plain text. */
export function proseWords(plain: string): string {
  // Markers in code are markers too, and the plain text still has those.
  const words = searchText(plain.replace(/\[\^\d{1,6}\]/g, ' '));
  // The shortest text of as many different words.
  if (words.length < WORDS_MAX * 3) return words;
  const known = new Set<string>();
  const held: string[] = [];
  for (const word of words.split(' ')) {
    if (known.size >= WORDS_MAX && !known.has(word)) continue;
    known.add(word);
    held.push(word);
  }
  return held.join(' ');
}

/**
 * The terms of a query: what stands between blanks, in NFC. A term without a
 * letter or a digit can match no word and is left out, so the list may be
 * empty. Throws `invalid_request` when the query is empty, longer than
 * `QUERY_MAX` or has more than `TERMS_MAX` terms (wire.md, 3, search).
 */
export function searchTerms(q: string): string[] {
  const query = normalized(q).trim();
  const length = [...query].length;
  if (length === 0) {
    throw queryFault('q is empty; give one to four words, as in q=harbour+tide');
  }
  const begins = JSON.stringify([...query].slice(0, 40).join('').toWellFormed());
  if (length > QUERY_MAX) {
    throw queryFault(`q has ${length} characters (it begins ${begins}), more than ${QUERY_MAX}; shorten it`);
  }
  const terms = query.split(/\s+/u);
  if (terms.length > TERMS_MAX) {
    throw queryFault(`q has ${terms.length} terms (it begins ${begins}), more than ${TERMS_MAX}; leave some out`);
  }
  return terms.filter((term) => LETTER_OR_DIGIT.test(searchText(term)));
}

function queryFault(message: string): Fault {
  return new Fault('invalid_request', message, { field: 'q' });
}

/**
 * The FTS5 query for pieces of one paper that hold all the terms. A term's
 * words stand side by side, and its last one may be the beginning of a word.
 * It is made of quoted words that hold letters and digits only, so no term
 * can be taken for an operator.
 */
export function matchExpression(paper: string, terms: readonly string[]): string {
  const phrases = new Set(terms.map(searchText).map((words) => `"${words}"${ENDS_UNSPACED.test(words) ? '' : '*'}`));
  return [`"${paperWord(paper)}"`, ...phrases].join(' AND ');
}
