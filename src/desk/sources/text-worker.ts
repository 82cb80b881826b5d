import { sha256 } from '../../proof/basis.ts';
import { folded, matchQuote, missingTerms, type Passage } from './match.ts';
import { sourceText } from './source-text.ts';

/** A source that was read, and what is cited of it. */
export interface TextTask {
  bytes: Uint8Array;
  contentType: string | null;
  cited: readonly { statement: string; quote: string | null }[];
}

/** What a source says of one cited fact. Passages are in bytes of its text in UTF-8. */
export interface Found {
  quote: Passage | null;
  /** The passage that is nearest to a quote that the source does not have, and how many letters differ. */
  nearest: (Passage & { distance: number }) | null;
  /** Numbers and names of the statement that the source does not have. */
  missing: string[];
}

/** The text of a source, null when it has none; and what it says of each cited fact. */
export interface TextFound {
  text: string | null;
  /** `sha256:<hex>` of the text in UTF-8. */
  digest: string | null;
  found: Found[];
}

/** Runs on a thread with a bounded heap: what strangers send must not hold up a server. */
export default async function findIn({ bytes, contentType, cited }: TextTask): Promise<TextFound> {
  const text = await sourceText(bytes, contentType);
  if (text === null) return { text, digest: null, found: cited.map(() => NOTHING) };
  const source = folded(text);
  const utf8 = <P extends Passage>(passage: P): P => {
    const start = Buffer.byteLength(text.slice(0, passage.start));
    return { ...passage, start, end: start + Buffer.byteLength(text.slice(passage.start, passage.end)) };
  };
  const found = cited.map(({ statement, quote }) => {
    const match = quote === null ? NO_MATCH : matchQuote(quote, source);
    return {
      quote: match.found === null ? null : utf8(match.found),
      nearest: match.nearest === null ? null : utf8(match.nearest),
      missing: missingTerms(statement, text, source),
    };
  });
  return { text, digest: sha256(text), found };
}

const NO_MATCH = { found: null, nearest: null };
const NOTHING: Found = { quote: null, nearest: null, missing: [] };
