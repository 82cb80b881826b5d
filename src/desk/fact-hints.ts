import * as z from 'zod';
import type { CitedFact } from '../proof/basis.ts';
import type { Archive } from './archive.ts';
import { searchText } from './search.ts';

/** How many of a piece's entries are compared with the record: the first ones without a key. */
const COMPARED = 100;
/** Minimum share of common words for two statements to count as near, in general and within the same document. */
const NEAR = 0.6;
const NEAR_IN_DOCUMENT = 0.35;

/** A recorded fact that an entry without a key nearly repeats. A hint never blocks a filing. */
export const FactHint = z
  .object({
    field: z.string().meta({ description: 'The entry, such as `cited_facts[0]`.' }),
    claim_key: z.string(),
    version: z.int().min(1),
    statement: z.string(),
    source: z.string(),
    instrument: z.string(),
    message: z.string(),
  })
  .meta({
    id: 'FactHint',
    description: 'A fact of the record that an entry without a key nearly repeats; give its key if it is the same.',
    example: {
      ...{ field: 'cited_facts[0]', claim_key: 'second-since-1967', version: 1 },
      ...{
        statement: 'The second was redefined in 1967.',
        source: 'BIPM',
        instrument: 'https://www.bipm.org/en/cgpm-1967',
      },
      message:
        'the fact record has "second-since-1967", which says nearly the same; give that key alone if it is this fact',
    },
  });
export type FactHint = z.infer<typeof FactHint>;

/** Recorded facts that a filing's entries without a key nearly repeat, at most one per entry. */
export function factHints(archive: Pick<Archive, 'factsLike'>, facts: readonly CitedFact[]): FactHint[] {
  const keyless = facts.map((fact, index) => ({ fact, index })).filter(({ fact }) => fact.claim_key === null);
  return keyless.slice(0, COMPARED).flatMap(({ fact, index }) => {
    const words = wordsOf(fact.statement);
    let best: { score: number; hint: FactHint } | null = null;
    for (const known of archive.factsLike(fact)) {
      const score = shared(words, wordsOf(known.statement));
      if (score < (known.instrument === fact.instrument ? NEAR_IN_DOCUMENT : NEAR)) continue;
      if (best !== null && best.score >= score) continue;
      const { claim_key, version, statement, source, instrument } = known;
      const message = `the fact record has ${JSON.stringify(claim_key)}, which says nearly the same; give that key alone if it is this fact`;
      best = {
        score,
        hint: { field: `cited_facts[${index}]`, claim_key, version, statement, source, instrument, message },
      };
    }
    return best === null ? [] : [best.hint];
  });
}

const wordsOf = (text: string): Set<string> => new Set(searchText(text).split(' '));

/** The number of common words divided by the number of all words of two texts, from 0 to 1. */
function shared(a: Set<string>, b: Set<string>): number {
  const both = [...a].filter((word) => b.has(word)).length;
  return both / (a.size + b.size - both);
}
