/** Part of a text, in UTF-16 units. */
export interface Passage {
  start: number;
  end: number;
}

/** The position of a quote in a text: an exact match, or else the most similar passage. */
export interface QuoteMatch {
  found: Passage | null;
  /** The most similar passage, and how many letters differ; null if the quote was found, or nothing is similar. */
  nearest: (Passage & { distance: number }) | null;
}

/** A folded text for comparison, with the original position of each of its units. */
export interface Folded {
  text: string;
  /** The original position of each unit, and of the end. */
  at: Int32Array;
}

/**
 * A base character and its marks, but no more marks than any writing system needs, so that normalization takes linear
 * time.
 */
const CLUSTER = /[\s\S]\p{M}{0,8}/gu;
const QUOTES = /[«»‹›„“”‟〝〞〟＂"‘’‚‛‹›′″`´']/gu;
const DASHES = /[\p{Pd}\u2212\u2043]/gu;
const IGNORED = /[\p{Default_Ignorable_Code_Point}\u0640]/gu;

/**
 * Folds away differences between printers, keyboards and PDF files: compatibility forms (NFKC), case, white space,
 * quotation marks, dashes, and hyphens within words, since those at line ends were never written. Linear time.
 */
export function folded(text: string): Folded {
  const parts: string[] = [];
  const at = new Int32Array(text.length * 2 + 64);
  let length = 0;
  let last = ' ';
  const push = (part: string, from: number): void => {
    for (const unit of part) {
      if (unit === ' ' && last === ' ') continue;
      // The array is full: only a text full of letters such as `ﷺ`, which folds to 18, gets here. The rest is not
      // compared.
      if (length + unit.length >= at.length) return;
      for (let n = 0; n < unit.length; n++) at[length++] = from;
      parts.push(unit);
      last = unit;
    }
  };
  for (const { 0: cluster, index } of text.matchAll(CLUSTER)) {
    const code = cluster.charCodeAt(0);
    if (cluster.length === 1 && code > 0x60 && code < 0x7b) push(cluster, index);
    else if (isHyphenInWord(text, cluster, index)) continue;
    else if (/\s/u.test(cluster)) {
      if (!afterHyphen(text, index)) push(' ', index);
    } else {
      // An acute accent alone is a quotation mark; in NFKC it would be a space and a mark.
      const plain = cluster.replace(QUOTES, '"').normalize('NFKC').toLowerCase();
      push(plain.replace(IGNORED, '').replace(QUOTES, '"').replace(DASHES, '-').replace(/\s+/gu, ' '), index);
    }
  }
  at[length] = text.length;
  return { text: parts.join(''), at: at.subarray(0, length + 1) };
}

const LETTER = /\p{L}/u;
const HYPHEN = /[-\u00ad\u2010\u2011]/u;

/** Whether this is a hyphen between letters; the second letter may be on the next line. */
function isHyphenInWord(text: string, cluster: string, index: number): boolean {
  if (!HYPHEN.test(cluster) || !LETTER.test(text.charAt(index - 1))) return false;
  const next = text.charAt(index + 1);
  return LETTER.test(next === '\n' ? text.charAt(index + 2) : next);
}

/** Whether this white space is a line end after a hyphen within a word. */
function afterHyphen(text: string, index: number): boolean {
  return text.charAt(index) === '\n' && index > 1 && isHyphenInWord(text, text.charAt(index - 1), index - 1);
}

/** The longest gap between the parts of a quote with omissions, in folded units, and the most starting points tried. */
const GAP_MAX = 1_000;
const TRIES_MAX = 1_000;
const OMISSION = /\[ ?(?:…|\.{3}) ?\]|\( ?(?:…|\.{3}) ?\)|…|\.{3}/u;

/** Finds a quote in a text. Linear in the length of the text, for quotes of bounded length. */
export function matchQuote(quote: string, { text, at }: Folded): QuoteMatch {
  const parts = quote
    .split(OMISSION)
    .map((part) => folded(part).text.trim())
    .filter(Boolean);
  const place = (start: number, end: number): Passage => ({ start: at[start] ?? 0, end: endOf(at, end) });
  const [first, ...rest] = parts;
  if (first === undefined) return { found: null, nearest: null };
  let start = text.indexOf(first);
  for (let tries = 0; start >= 0 && tries < TRIES_MAX; tries++) {
    const end = followed(text, start + first.length, rest);
    if (end !== null) return { found: place(start, end), nearest: null };
    start = text.indexOf(first, start + 1);
  }
  const near = nearest(parts.join(' '), text);
  return { found: null, nearest: near === null ? null : { ...place(near.start, near.end), distance: near.distance } };
}

/** The end of the last part, if each part follows the previous one within `GAP_MAX`; else null. */
function followed(text: string, from: number, parts: readonly string[]): number | null {
  let end = from;
  for (const part of parts) {
    const found = text.slice(end, end + GAP_MAX + part.length).indexOf(part);
    if (found < 0) return null;
    end += found + part.length;
  }
  return end;
}

/** The end of a passage in the original: the position of the next folded character, or one unit after the last. */
function endOf(at: Int32Array, end: number): number {
  const last = at[end - 1] ?? 0;
  for (let n = end; n < at.length; n++) {
    const next = at[n] ?? last;
    if (next > last) return next;
  }
  return last + 1;
}

/** The length of the letter runs that a passage must share with the quote. */
const GRAM = 4;
/** The number of hash values for such runs. Collisions only cost extra comparisons; they do not change the distance. */
const HASHES = 1 << 16;
/** The number of passages that are compared letter by letter. */
const CANDIDATES = 3;
/** A passage that differs in more than this fraction of its letters is a different sentence. */
const NEAR = 0.4;
/** The longest quote compared letter by letter, in folded units. */
const NEAREST_MAX = 1_000;

/** The passage that shares the most letter runs with a quote, and its edit distance. */
function nearest(quote: string, text: string): (Passage & { distance: number }) | null {
  const size = quote.length;
  if (size < GRAM * 2 || size > NEAREST_MAX) return null;
  const grams = new Uint8Array(HASHES);
  for (let n = 0; n <= size - GRAM; n++) grams[gramAt(quote, n)] = 1;
  const hits = new Uint8Array(Math.max(0, text.length - GRAM + 1));
  for (let n = 0; n < hits.length; n++) hits[n] = grams[gramAt(text, n)] ?? 0;
  const best: { start: number; shared: number }[] = [];
  let shared = 0;
  // Windows that share no more than the worst candidate are skipped.
  let least = 0;
  for (let n = 0; n < hits.length; n++) {
    shared += (hits[n] ?? 0) - (n >= size ? (hits[n - size] ?? 0) : 0);
    if (shared <= least) continue;
    const start = Math.max(0, n - size + 1);
    const rival = best.find((one) => Math.abs(one.start - start) < size);
    if (rival === undefined) best.push({ start, shared });
    else if (rival.shared < shared) Object.assign(rival, { start, shared });
    best.sort((a, b) => b.shared - a.shared);
    best.length = Math.min(best.length, CANDIDATES);
    least = best[CANDIDATES - 1]?.shared ?? 0;
  }
  let found: (Passage & { distance: number }) | null = null;
  const margin = Math.ceil(size * NEAR);
  for (const { start } of best) {
    const from = Math.max(0, start - margin);
    const near = aligned(quote, text.slice(from, start + size + margin));
    if (near.distance > size * NEAR || (found !== null && found.distance <= near.distance)) continue;
    found = { start: from + near.start, end: from + near.end, distance: near.distance };
  }
  return found;
}

/** A hash of the letter run at a position. */
function gramAt(text: string, n: number): number {
  let hash = 0;
  for (let k = n; k < n + GRAM; k++) hash = Math.imul(hash ^ text.charCodeAt(k), 0x9e3779b1);
  return hash >>> 16;
}

/** The part of a window most similar to a quote, by edit distance (Sellers, 1980). */
function aligned(quote: string, window: string): Passage & { distance: number } {
  const width = quote.length + 1;
  let costs = Array.from({ length: width }, (_, n) => n);
  let starts = new Array<number>(width).fill(0);
  let best = { start: 0, end: 0, distance: quote.length };
  for (let j = 1; j <= window.length; j++) {
    const [nextCosts, nextStarts] = [new Array<number>(width), new Array<number>(width)];
    nextCosts[0] = 0;
    nextStarts[0] = j;
    for (let i = 1; i < width; i++) {
      const swap = (costs[i - 1] ?? 0) + (quote[i - 1] === window[j - 1] ? 0 : 1);
      const skip = (costs[i] ?? 0) + 1;
      const add = (nextCosts[i - 1] ?? 0) + 1;
      const cost = Math.min(swap, skip, add);
      nextCosts[i] = cost;
      nextStarts[i] = (cost === swap ? starts[i - 1] : cost === skip ? starts[i] : nextStarts[i - 1]) ?? 0;
    }
    [costs, starts] = [nextCosts, nextStarts];
    const distance = costs[width - 1] ?? 0;
    if (distance < best.distance) best = { start: starts[width - 1] ?? 0, end: j, distance };
  }
  return best;
}

/** The most numbers, and the most names, of a statement that are looked for. */
const TERMS_MAX = 40;
const NUMBER = /\d{1,3}(?:[ \u00a0\u202f'’]\d{3}){1,6}(?:[.,]\d{1,20})?(?!\d)|\d{1,20}(?:[.,]\d{1,20}){0,6}/gu;
/**
 * Capitalized words that follow another word. The first word of a sentence is always capitalized, so it does not count.
 */
const NAME = /(?<=[\p{L}\p{N},;:)"”»] )\p{Lu}[\p{L}\p{M}]+/gu;

/** All possible values of the numbers in a text. */
export function numberValues(text: string): Set<string> {
  return new Set(numbersIn(text).flatMap(valuesOf));
}

/**
 * The numbers and names of a statement that are missing in a source, in order. `said` are the source's `numberValues`.
 */
export function missingTerms(statement: string, said: ReadonlySet<string>, { text }: Folded): string[] {
  const numbers = numbersIn(statement).slice(0, TERMS_MAX);
  const missing = numbers.filter((number) => !valuesOf(number).some((value) => said.has(value)));
  const names = [...new Set(statement.match(NAME) ?? [])].slice(0, TERMS_MAX);
  return [...new Set([...missing, ...names.filter((name) => !text.includes(folded(name).text))])];
}

function numbersIn(text: string): string[] {
  return asciiDigits(text).match(NUMBER) ?? [];
}

/** The possible values of a number: `1.234` is 1234 in Berlin, and a little more than one in London. */
function valuesOf(number: string): string[] {
  const bare = number.replace(/[ \u00a0\u202f'’]/gu, '');
  const marks = bare.match(/[.,]/g) ?? [];
  if (marks.length === 0) return [plainNumber(bare, '')];
  const mark = Math.max(bare.lastIndexOf('.'), bare.lastIndexOf(','));
  const fraction = plainNumber(bare.slice(0, mark).replace(/[.,]/g, ''), bare.slice(mark + 1));
  const isGrouped = /^\d{1,3}(?:([.,])\d{3})(?:\1\d{3})*$/.test(bare);
  return isGrouped
    ? [plainNumber(bare.replace(/[.,]/g, ''), ''), ...(marks.length === 1 ? [fraction] : [])]
    : [fraction];
}

function plainNumber(whole: string, decimals: string): string {
  const fraction = decimals.replace(/0+$/, '');
  return `${whole.replace(/^0+(?=\d)/, '')}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Decimal digits of any script as ASCII. */
function asciiDigits(text: string): string {
  return text.replace(/(?![0-9])\p{Nd}/gu, (digit) => `${digitOf(digit)}`);
}

/** In Unicode, the digits of a script are consecutive, starting with zero; several such rows may follow one another. */
function digitOf(digit: string): number {
  const code = digit.codePointAt(0) ?? 0;
  let zero = code;
  while (code - zero < 60 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--;
  return (code - zero) % 10;
}
