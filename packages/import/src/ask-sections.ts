import { type Mapping, placed } from './mapping.ts';
import type { Source } from './source.ts';
import { textOfHtml } from './tidy-html.ts';

/** Asks one question. Resolves with the answer, or null where there is none. */
export type Ask = (question: string) => Promise<string | null>;

/** Asks for the section of each category of an archive that the paper does not have as one. Empty answers keep the name. */
export async function askSections(
  ask: Ask,
  source: Source,
  mapping: Mapping,
  sections: readonly string[],
): Promise<Mapping> {
  const counts = new Map<string, number>();
  for await (const item of source.items()) {
    if (!('piece' in item)) continue;
    const { section } = placed(mapping, item.piece.categories.map(textOfHtml).filter(Boolean));
    counts.set(section ?? '', (counts.get(section ?? '') ?? 0) + 1);
  }
  const asked: Mapping = { ...mapping, sections: { ...mapping.sections } };
  for (const [name, count] of [...counts].sort(([, a], [, b]) => b - a)) {
    if (sections.includes(name)) continue;
    const pieces = `${count} piece${count === 1 ? '' : 's'}`;
    if (name === '') {
      const answer = await ask(`The section of ${pieces} without a category [${sections[0] ?? 'Archive'}]: `);
      asked.section = answer || (sections[0] ?? 'Archive');
      continue;
    }
    const answer = await ask(`The section for ${pieces} of the category ${JSON.stringify(name)} [${name}]: `);
    asked.sections[name] = answer || name;
  }
  return asked;
}
