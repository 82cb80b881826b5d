import type { Filing } from '../../src/desk/door/piece.ts';
import { VOCABULARIES, type Vocabulary } from './vocabulary.ts';

/** A piece without what its place in a paper gives it. */
export type Text = Pick<Filing, 'headline' | 'dek' | 'prose' | 'cited_facts' | 'language'>;

/** How long the corpus's pieces are, in characters: each tenth of them. */
const LENGTHS = [1_000, 1_700, 2_300, 2_900, 3_500, 4_300, 5_300, 6_900, 9_600, 16_000];
/** How many facts they cite, in step. */
const FACTS = [2, 3, 4, 4, 5, 7, 9, 12, 16, 30];
const COUNT = 2_000;
const WORDS =
  'the a of and to in harbour council record tide ledger reader water city paper survey answer long new small public report number since under between while said kept open found built measured printed agreed asked counted'.split(
    ' ',
  );

/** Pieces of no meaning, in English or a language of `VOCABULARIES`; always the same ones. */
export function inventedPieces(language = 'en'): Text[] {
  const vocabulary = VOCABULARIES[language];
  if (vocabulary === undefined && language !== 'en') throw new Error(`there are no words of ${language}`);
  const random = randomFrom(20_261_121);
  return Array.from({ length: COUNT }, (_, index) => {
    const tenth = index % LENGTHS.length;
    const facts = FACTS[tenth] ?? 2;
    const length = ((LENGTHS[tenth] ?? 1_000) * (vocabulary?.dense ?? 100)) / 100;
    const sentence = () => (vocabulary === undefined ? sentenceOf(random) : denseSentenceOf(vocabulary, random));
    const paragraphs: string[] = [];
    let n = 0;
    for (let size = 0; size < length || n < facts; ) {
      const marker = n < facts ? `[^${++n}]` : '';
      const paragraph = `${sentence()} ${sentence()}${marker} ${sentence()}`;
      paragraphs.push(paragraphs.length % 6 === 5 ? `## ${sentence().slice(0, 40)}\n\n${paragraph}` : paragraph);
      size += paragraph.length;
    }
    return {
      headline: sentence().slice(0, 70),
      dek: sentence(),
      prose: paragraphs.join('\n\n'),
      language,
      cited_facts: Array.from({ length: facts }, (_unused, fact) => ({
        n: fact + 1,
        statement: sentence(),
        source: `source-${(fact % 4) + 1}.example`,
        instrument: `https://source-${(fact % 4) + 1}.example/${index}/${fact}`,
        claim_key: null,
      })),
    };
  });
}

function sentenceOf(random: () => number): string {
  const words = Array.from({ length: 9 + Math.floor(random() * 14) }, () => WORDS[Math.floor(random() * WORDS.length)]);
  const text = words.join(' ');
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}

/** The nth of the words comes one nth as often as the first, as in languages (Zipf). */
function denseSentenceOf({ words, between, ends }: Vocabulary, random: () => number): string {
  const [nouns, joints, verbs] = [words.match(/../gu) ?? [], between.split('|'), ends.split('|')];
  const one = (from: readonly string[], at = random() * from.length) => from[Math.floor(at)] ?? '';
  const noun = () => one(nouns, (nouns.length + 1) ** random() - 1);
  const parts = Array.from({ length: 4 + Math.floor(random() * 9) }, () => `${noun()}${one(joints)}`);
  return `${parts.join('')}${noun()}${one(verbs)}`;
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
