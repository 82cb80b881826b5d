import { phrasesOf } from '../../phrases/tables.ts';
import type { CitedFact } from '../../proof/basis.ts';
import { codeColours } from './code-colours.ts';
import { type ProseExtras, type ProseHtml, proseHtml } from './prose-html.ts';
import type { ProsePicture } from './prose-pictures.ts';
import type { ContentsEntry } from './views.ts';

/** Minimum length of a prose per letter of its sources, so that the statements beside it fit next to their lines. */
const LENGTH_BESIDE = 2.5;

/** The prose of a page, with highlighted code, and notes labelled in its language. */
export async function pageProse(
  prose: string,
  facts: CitedFact[],
  language: string,
  pictureOf: (path: string) => ProsePicture,
  insets: Pick<ProseExtras, 'cardOf' | 'hasBox'>,
): Promise<ProseHtml> {
  const colours = await codeColours(prose);
  const beside = facts.reduce((sum, { statement, source }) => sum + statement.length + source.length, 0);
  const hasNotes = prose.length > beside * LENGTH_BESIDE;
  return proseHtml(prose, facts, pictureOf, { ...insets, hasNotes, words: phrasesOf(language).story, colours });
}

/** A piece with fewer words or fewer headings than this has no table of contents. */
const [WORDS_MIN, HEADINGS_MIN] = [600, 4];

/** The table of contents of a long piece: its upper two levels of headings. Empty for a short piece. */
export function contentsOf({ headings }: Pick<ProseHtml, 'headings'>, words: number): ContentsEntry[] {
  const top = headings.reduce((top, { level }) => Math.min(top, level), 6);
  const listed = headings.filter(({ level }) => level <= top + 1);
  if (words < WORDS_MIN || listed.length < HEADINGS_MIN) return [];
  const entries: ContentsEntry[] = [];
  for (const { level, id, text } of listed) {
    const last = entries.at(-1);
    if (level === top || last === undefined) entries.push({ id, text, parts: [] });
    else last.parts.push({ id, text });
  }
  return entries;
}
