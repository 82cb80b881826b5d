import { fill } from '../../../phrases/fill.ts';
import { sha256 } from '../../../proof/basis.ts';
import { evidenceIn } from '../../../proof/evidence-note.ts';
import { folded, matchQuote } from '../../../proof/quote-match.ts';
import type { Check } from './check.ts';
import { NotFetched } from './fetched.ts';
import type { ProofRecord } from './record.ts';
import { ENGLISH, type Words } from './words.ts';

/** The most texts to fetch; a piece may cite a thousand sources. */
const TEXTS_MAX = 100;
/** The most UTF-16 units shown of a passage that differs from the quote. */
const PASSAGE_MAX = 120;

/** Where the paper publishes the texts that it read. */
export interface TextSource {
  /** Ends in a slash; empty for a paper that does not publish them. */
  address: string;
  /** Null when there is no such file. Throws `NotFetched`. */
  fetch(address: string): Promise<Uint8Array | null>;
}

/** The result of comparing the texts of sources: a check, null if none was compared, and what could not be compared. */
export interface TextsOutcome {
  check: Check | null;
  open: string;
}

/** Compares the texts that a paper publishes with the notes in a proof: their hashes, and their passages with the quotes. */
export async function textsOutcome(
  { basis, evidence = [] }: Pick<ProofRecord, 'basis' | 'evidence'>,
  source: TextSource,
  words: Words = ENGLISH,
): Promise<TextsOutcome> {
  const read = new Map<string, { n: number; place: { start: number; end: number } | null }[]>();
  for (const { n, note } of evidence) {
    const { text = null, quote: place = null } = evidenceIn(note) ?? {};
    if (text !== null) read.set(text, [...(read.get(text) ?? []), { n, place }]);
  }
  if (read.size === 0) return { check: null, open: '' };
  if (source.address === '') return { check: null, open: words.texts_withheld };
  const faults: string[] = [];
  const open: string[] = [];
  let [count, absent] = [0, 0];
  for (const [at, [digest, notes]] of [...read].entries()) {
    const address = `${source.address}${digest.slice('sha256:'.length)}.txt`;
    let bytes: Uint8Array | null = null;
    try {
      if (at < TEXTS_MAX) bytes = await source.fetch(address);
    } catch (error) {
      if (!(error instanceof NotFetched)) throw error;
      open.push(`A text of a source was not compared, because ${error.message}`);
      continue;
    }
    if (bytes === null) {
      absent++;
      continue;
    }
    count++;
    const found = sha256(bytes);
    if (found !== digest) {
      faults.push(
        `The text at ${address} has the hash ${found}, but the note of source ${notes[0]?.n} names ${digest}.`,
      );
      continue;
    }
    for (const { n, place } of notes) {
      const quote = basis.cited_facts.find((fact) => fact.n === n)?.quote;
      const fault = place === null || quote === undefined ? null : placeFault(bytes, place, quote);
      if (fault !== null) faults.push(`Source ${n}: ${fault}.`);
    }
  }
  if (absent > 0) open.unshift(fill(words.texts_absent, { count: absent }));
  const check = { title: words.texts, holds: faults.length === 0 };
  const found = faults.length === 0 ? [fill(words.texts_found, { count })] : faults;
  return { check: count === 0 ? null : { ...check, found }, open: open.join(' ') };
}

/** How a passage of a text differs from the quote; null if it is equal. */
function placeFault(bytes: Uint8Array, { start, end }: { start: number; end: number }, quote: string): string | null {
  if (end > bytes.length) return `its note places the quote at byte ${end} of a text of ${bytes.length}`;
  const passage = new TextDecoder().decode(bytes.subarray(start, end));
  if (matchQuote(quote, folded(passage)).found !== null) return null;
  return `at the place of the quote the text says “${passage.slice(0, PASSAGE_MAX)}”`;
}
