import * as z from 'zod';
import type { CitedFact } from '../proof/basis.ts';
import { isoTime } from '../proof/time.ts';
import { searchText } from './search.ts';
import { storyUrl } from './story.ts';

/** How many pieces one search reads, newest first. The next search continues from there. */
export const PIECES_READ = 200;
/** Once a search has read this many facts, it reads no further pieces. */
const FACTS_READ = 5_000;

/** A piece on air with what it cites. */
export interface CitingPiece {
  id: string;
  slug: string;
  headline: string;
  revision: number;
  published_at: number;
  cited_facts: CitedFact[];
}

/** A cited fact, and the piece that cites it. */
export const CitedFactRow = z
  .object({
    n: z.int().meta({ description: 'Its number in the piece.' }),
    statement: z.string(),
    source: z.string().meta({ description: 'The publisher.' }),
    instrument: z.string().meta({ description: 'The document that says it: an address or a name.' }),
    claim_key: z.string().nullable(),
    story: z.object({
      id: z.string(),
      headline: z.string(),
      revision: z.int(),
      published_at: z.iso.datetime(),
      url: z.url(),
    }),
  })
  .meta({ id: 'CitedFactRow', description: 'A fact that a piece on air cites.' });
export type CitedFactRow = z.infer<typeof CitedFactRow>;

interface FactSearch {
  /** Each must begin a word of the statement, the publisher or the document. */
  words: readonly string[];
  /** Part of the publisher's name; null for any. */
  source: string | null;
  limit: number;
  /** The paper's public root. */
  root: string;
}

/** The matching facts, in the order of the pieces. A piece's facts stay together, so there may be more than `limit`. */
export function findFacts(pieces: readonly CitingPiece[], { words, source, limit, root }: FactSearch) {
  const terms = words.map((word) => ` ${searchText(word)}`);
  const publisher = source === null ? null : searchText(source);
  const facts: CitedFactRow[] = [];
  let last: CitingPiece | null = null;
  let read = 0;
  let searched = 0;
  for (const piece of pieces) {
    if (facts.length >= limit || read >= FACTS_READ || searched === PIECES_READ) return { facts, searched, last };
    for (const fact of piece.cited_facts) {
      if (publisher !== null && !searchText(fact.source).includes(publisher)) continue;
      const text = ` ${searchText(`${fact.statement}\n${fact.source}\n${fact.instrument}`)}`;
      if (terms.every((term) => text.includes(term))) facts.push(rowOf(fact, piece, root));
    }
    read += piece.cited_facts.length;
    searched++;
    last = piece;
  }
  // Every piece was read.
  return { facts, searched, last: null };
}

function rowOf({ n, statement, source, instrument, claim_key }: CitedFact, piece: CitingPiece, root: string) {
  const { id, slug, headline, revision, published_at } = piece;
  const story = { id, headline, revision, published_at: isoTime(published_at), url: storyUrl(root, slug) };
  return { n, statement, source, instrument, claim_key: claim_key ?? null, story };
}
