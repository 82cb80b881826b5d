import * as z from 'zod';
import { fill } from '../../phrases/fill.ts';
import { phrasesOf } from '../../phrases/tables.ts';
import { normalized } from '../../shared/combining-marks.ts';
import { type Cast, hasAudio } from '../papers/cast.ts';
import { CADENCES, type Choices } from './subscriber.ts';

/** Choices in wire format: how often, which sections, and whether to include the edition to watch or hear. */
export const ChoicesBody = z.strictObject({
  cadence: z
    .enum(CADENCES, { error: `must be one of ${CADENCES.join(', ')}` })
    .optional()
    .meta({ description: 'How often: at once with each piece, or one mail a day or a week; by default `daily`.' }),
  sections: z
    .array(z.string(), { error: 'must be a list of section names' })
    .min(1, 'names no section; name one or more, or leave it out for all')
    .max(40, 'names more sections than a paper can have')
    .optional()
    .meta({ description: 'Names of the paper’s sections. Omitted: all sections, including future ones.' }),
  cast: z
    .boolean({ error: 'must be true or false' })
    .optional()
    .meta({ description: 'Whether to include the video or audio edition; by default true.' }),
});
export type ChoicesBody = z.infer<typeof ChoicesBody>;

/** The choices in a body, or the first unknown section. Naming every section selects all, including future ones. */
export function choicesFrom(
  body: ChoicesBody,
  paperSections: readonly string[],
): Partial<Choices> | { unknown: string } {
  const chosen: Partial<Choices> = {};
  if (body.cadence !== undefined) chosen.cadence = body.cadence;
  if (body.cast !== undefined) chosen.cast = body.cast;
  if (body.sections !== undefined) {
    const named = new Set(body.sections.map((name) => normalized(name)));
    const unknown = [...named].find((name) => !paperSections.includes(name));
    if (unknown !== undefined) return { unknown };
    chosen.sections = named.size === paperSections.length ? null : paperSections.filter((name) => named.has(name));
  }
  return chosen;
}

/** A sentence that describes choices to readers. `casts` are the paper's editions. */
export function choicesInWords(language: string, choices: Choices, casts: readonly Cast[]): string {
  const t = phrasesOf(language).choices;
  const [included, left] = hasAudio(casts) ? [t.with_podcast, t.without_podcast] : [t.with_cast, t.without_cast];
  const sections = choices.sections === null ? t.every_section : choices.sections.join(t.between);
  return fill(choices.cast ? included : left, { cadence: t[choices.cadence], sections });
}
