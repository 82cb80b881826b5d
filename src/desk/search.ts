import { normalized } from '../shared/combining-marks.ts';
import { Fault } from '../shared/fault.ts';
import { plainText } from './door/prose.ts';

/** Maximum length of a query, in Unicode code points after trimming. */
export const QUERY_MAX = 120;
/** Maximum number of terms in a query. */
export const TERMS_MAX = 4;
/** Maximum number of rows in a search result. */
export const SEARCH_ROWS = 30;

/** Narrows a search. Omitted members do not restrict it. */
export interface SearchFilter {
  /** The section's name. */
  section?: string | undefined;
  /** The year in which a piece first went on air, by UTC: 0 to 9999. */
  year?: number | undefined;
}

/** The version of `indexText`. An index built by another version is rebuilt when its database is opened. */
export const NORMALIZER_VERSION = 2;

/** Separates two fields, so that no phrase spans both. `searchText` never returns it. */
const BORDER = '\u{E000}';
/** Starts the word that names a paper. `searchText` never returns it either. */
const PAPER_PREFIX = '\u{E001}';

/** Invisible characters, and the tatweel, which only stretches Arabic words. A zero-width space separates words. */
const INVISIBLE = /[[\p{Default_Ignorable_Code_Point}\u0640]--\u200b]/gv;
/**
 * Accents, Hebrew points and Arabic vowel marks. Excludes vowel signs and viramas of Devanagari, Thai and related
 * scripts, which readers regard as letters, and the two voicing marks of kana.
 */
const ACCENT =
  /[[\p{Mn}&&[\p{sc=Inherited}\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Hebrew}\p{sc=Arabic}\p{sc=Syriac}]]--[\u3099\u309a]]/gv;
/** Letters with a stroke, and ligatures, which no normalization form decomposes. */
const PLAIN_LETTERS: Record<string, string> = { æ: 'ae', đ: 'd', ħ: 'h', ł: 'l', ø: 'o', œ: 'oe', ŧ: 't', ς: 'σ' };
const SPECIAL = /[æđħłøœŧς]/g;
/** Everything between words. */
const NON_WORD = /[^\p{L}\p{M}\p{N}]+/gv;
/** Characters of scripts that do not separate words by spaces. */
const UNSPACED =
  /[[\p{L}\p{M}\p{N}]&&[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]]/gv;
const ENDS_UNSPACED = new RegExp(`${UNSPACED.source}$`, 'v');
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/v;
/** Dashes, quotation marks and other general punctuation, without its invisible characters. */
const PUNCTUATION = /[\u2010-\u2027\u2030-\u205e]/g;
const ASCII = /^[\0-\x7f]*$/;

/**
 * Normalizes a text for index and queries: words and single spaces, no case or accents; unspaced scripts by character.
 */
export function searchText(text: string): string {
  return text.split('\n').map(normalizeLine).filter(Boolean).join(' ');
}

function normalizeLine(line: string): string {
  // Most English lines consist of these characters alone and need none of the slower rules below.
  const spaced = line.replace(PUNCTUATION, ' ');
  if (ASCII.test(spaced))
    return spaced
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, ' ')
      .trim();
  const plain = normalized(line, 'NFKD')
    .replace(INVISIBLE, '')
    .replace(ACCENT, '')
    // Upper-casing first folds ß and the dotless i, as Unicode's full case folding does.
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replace(SPECIAL, (letter) => PLAIN_LETTERS[letter] ?? letter);
  return normalized(plain).replace(UNSPACED, ' $& ').replace(NON_WORD, ' ').trim();
}

/** The index word that identifies the paper. */
function paperWord(paper: string): string {
  return `${PAPER_PREFIX}${paper.replaceAll('-', PAPER_PREFIX)}`;
}

/** The index text of a piece: the paper's word, then the words of headline, dek and prose. */
export function indexText(paper: string, piece: { headline: string; dek: string; prose: string }): string {
  const { headline, dek, prose } = piece;
  const words = proseWords(plainText(prose));
  return [paperWord(paper), searchText(headline), searchText(dek), words].join(` ${BORDER} `);
}

/** The index text of a fact: the paper's word, then the words of its statement, publisher, document and key. */
export function factIndexText(
  paper: string,
  {
    statement,
    source,
    instrument,
    claim_key,
  }: { statement: string; source: string; instrument: string; claim_key: string },
): string {
  return [paperWord(paper), ...[statement, source, instrument, claim_key].map(searchText)].join(` ${BORDER} `);
}

/** The FTS5 query for facts of one paper that contain all these words, which `searchText` returned. */
export function allWords(paper: string, words: readonly string[]): string {
  return [...words, paperWord(paper)].map((word) => `"${word}"`).join(' AND ');
}

/**
 * Maximum number of distinct words of a piece that are indexed, in order of appearance. Only hexadecimal dumps have
 * more, and writing the prefixes of all their words would hold the write lock for too long.
 */
const WORDS_MAX = 15_000;

/** The words of a prose for the index; `plain` is its plain text. */
function proseWords(plain: string): string {
  // The plain text still contains the markers in code.
  const words = searchText(plain.replace(/\[\^\d{1,6}\]/g, ' '));
  // A shorter text cannot have that many distinct words.
  if (words.length < WORDS_MAX * 3) return words;
  const distinct = new Set<string>();
  const indexed: string[] = [];
  for (const word of words.split(' ')) {
    if (distinct.size >= WORDS_MAX && !distinct.has(word)) continue;
    distinct.add(word);
    indexed.push(word);
  }
  return indexed.join(' ');
}

/**
 * Splits a query at white space into NFC terms. Drops terms without a letter or a digit, which match no word, so the
 * list may be empty. Throws `invalid_request` when the query is empty, longer than `QUERY_MAX` or has more than
 * `TERMS_MAX` terms.
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
 * The FTS5 query for pieces of one paper that match all terms. A term matches as a phrase whose last word may be a
 * prefix. All words are quoted and contain only letters and digits, so no term can act as an operator. FTS5 scans the
 * first phrase and looks the others up, so the longest term comes first, which is usually the rarest, and the paper's
 * word, which every piece has, comes last.
 */
export function matchExpression(paper: string, terms: readonly string[]): string {
  const phrases = new Set(terms.map(searchText).map((words) => `"${words}"${ENDS_UNSPACED.test(words) ? '' : '*'}`));
  return [...[...phrases].sort((a, b) => b.length - a.length), `"${paperWord(paper)}"`].join(' AND ');
}
