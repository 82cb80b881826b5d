import { createReadStream, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import { filingProblems, type PaperRules, sourceFloorProblems } from '../../src/desk/door/door.ts';
import { filingFrom } from '../../src/desk/door/filing.ts';
import type { Filing } from '../../src/desk/door/piece.ts';
import { PROJECT } from '../../src/shared/project.ts';
import { inventedPieces, type Text } from './invented.ts';

/** Beside the repository, where there is one: JSON Lines of pieces that others published. */
const CORPUS = join(PROJECT, '../shared/corpus');
/** How many pieces a day the papers of every size put on air. */
const A_DAY = 10;
const APART = (24 * 3_600_000) / A_DAY;

/** The language of the papers: English, or one of `VOCABULARIES`, whose pieces are invented. */
export const LANGUAGE = process.env.BENCH_LANGUAGE ?? 'en';

export const SECTIONS = ['City', 'Data', 'Design', 'Law', 'Letters', 'Open source', 'Science', 'Teaching'];
export const PERSONAS = ['ada-quill', 'ben-folio', 'cy-galley', 'dee-serif'];

/** What the door asks in the papers of the benchmark. */
const RULES: PaperRules = {
  sections: SECTIONS,
  personas: PERSONAS,
  source_floor: 2,
  hasMedia: () => false,
  hasPage: () => false,
  aliasOwner: () => null,
  fact: () => null,
};

export interface Texts {
  texts: Text[];
  /** Where they come from, for the table. */
  from: string;
}

/** A piece and when it goes on air, in ms. */
export interface DatedFiling {
  filing: Filing;
  at: number;
}

/** The texts that papers are made of: real ones where the corpus is, else invented ones of the same lengths. */
export async function loadTexts(): Promise<Texts> {
  if (LANGUAGE !== 'en') return { texts: inventedPieces(LANGUAGE), from: `INVENTED sentences (${LANGUAGE})` };
  const texts: Text[] = [];
  const files = existsSync(CORPUS) ? readdirSync(CORPUS).filter((name) => name.endsWith('.jsonl.gz')) : [];
  for (const file of files.sort()) {
    const lines = createInterface({ input: createReadStream(join(CORPUS, file)).pipe(createGunzip()) });
    for await (const line of lines) {
      const text = textOf(line);
      if (text !== null) texts.push(text);
    }
  }
  if (texts.length > 0) return { texts, from: `${texts.length} real pieces of the corpus, repeated` };
  return { texts: inventedPieces(), from: 'INVENTED prose of the corpus’s lengths (the corpus is not here)' };
}

function textOf(line: string): Text | null {
  const { headline, dek, prose, cited_facts, lang, publishable } = JSON.parse(line);
  if (!publishable) return null;
  const text: Text = { headline, dek: dek ?? '', prose, cited_facts, language: lang ?? 'en' };
  const filing = filingOf(text, 0);
  const problems = [...filingProblems(filing, RULES), ...sourceFloorProblems(filing, RULES)];
  return problems.length > 0 ? null : text;
}

function filingOf(text: Text, index: number): Filing {
  const category = SECTIONS[index % SECTIONS.length] ?? '';
  const byline = PERSONAS[Math.floor(index / SECTIONS.length) % PERSONAS.length] ?? '';
  const body = { ...text, category, byline };
  return filingFrom(body, { slug: `piece-${index}`, kind: 'news', language: 'en' });
}

/** The pieces of a paper, oldest first, the last one on air at `until`; every size has the same number a day. */
export function* piecesOf({ texts }: Texts, count: number, until: number): Iterable<DatedFiling> {
  for (let index = 0; index < count; index++)
    yield { filing: pieceAt(texts, index), at: until - (count - 1 - index) * APART };
}

/** The piece of a number: the texts are repeated, the slug is the number's. */
export function pieceAt(texts: Text[], index: number): Filing {
  // A stride that shares no factor with the length mixes long and short ones.
  const text = texts[(index * 7919) % texts.length];
  if (text === undefined) throw new Error('there are no texts');
  return filingOf(text, index);
}
