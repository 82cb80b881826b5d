import { sha256 } from '../../proof/basis.ts';
import { folded, matchQuote, missingTerms, numberValues, type Passage } from '../../proof/quote-match.ts';
import { sourceText } from './source-text.ts';

// Runs on a thread with a bounded heap, so that untrusted content cannot hold up a server.

/** A source that was read. */
export interface SourceBytes {
  bytes: Uint8Array;
  contentType: string | null;
}

/** The text of a source, null when it has none, and `sha256:<hex>` of it in UTF-8. */
export interface SourceText {
  text: string | null;
  digest: string | null;
}

/** What a fact cites from a source. */
export interface Cited {
  statement: string;
  quote: string | null;
}

/** What a source says about one cited fact. Passages are in bytes of its text in UTF-8. */
export interface Found {
  quote: Passage | null;
  /** The passage nearest to a quote that the source does not contain, and how many letters differ. */
  nearest: (Passage & { distance: number }) | null;
  /** Numbers and names in the statement that the source does not contain. */
  missing: string[];
}

/** Throws for a PDF that cannot be read. */
export async function textOf({ bytes, contentType }: SourceBytes): Promise<SourceText> {
  const text = await sourceText(bytes, contentType);
  return { text, digest: text === null ? null : sha256(text) };
}

export function findIn({ text, cited }: { text: string; cited: readonly Cited[] }): Found[] {
  const source = folded(text);
  const said = numberValues(text);
  const utf8 = <P extends Passage>(passage: P): P => {
    const start = Buffer.byteLength(text.slice(0, passage.start));
    return { ...passage, start, end: start + Buffer.byteLength(text.slice(passage.start, passage.end)) };
  };
  return cited.map(({ statement, quote }) => {
    const match = quote === null ? NO_MATCH : matchQuote(quote, source);
    return {
      quote: match.found === null ? null : utf8(match.found),
      nearest: match.nearest === null ? null : utf8(match.nearest),
      missing: missingTerms(statement, said, source),
    };
  });
}

const NO_MATCH = { found: null, nearest: null };
