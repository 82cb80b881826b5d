import * as z from 'zod';
import type { Problem } from '../../shared/shape.ts';
import { FilingBody, filingFrom } from '../door/filing.ts';
import type { Filing } from '../door/piece.ts';
import { type Repaired, repair } from '../door/repair.ts';
import type { Paper } from '../papers/paper.ts';
import { PlacementBody } from '../placement.ts';
import { PROSE_IS_BELOW, recordProblems } from './record-problems.ts';
import type { SourceFile } from './source-file.ts';

/** Front matter: the filing's fields except the prose, which is the text below, and the slug, which is the file's name. */
const FrontMatter = FilingBody.omit({ prose: true, slug: true }).extend({
  /** False keeps a draft. A time publishes the piece at that time. Otherwise the piece goes on air when it is filed. */
  air: z
    .union([
      z.boolean(),
      z.iso.datetime({ offset: true, error: 'must be true, false or a time such as 2026-11-20T06:30:00Z' }),
    ])
    .default(true),
  placement: PlacementBody.optional(),
});

/** A parsed story file. `air` is a time in ms, `true` for now, `false` for a draft. */
export interface StoryFile {
  filing: Filing;
  air: number | boolean;
  placement: PlacementBody | null;
}

interface ReadStory {
  /** Undefined when the file has problems. */
  story?: StoryFile;
  problems: Problem[];
  /** If the file has problems: the parts that the filing door can still check. */
  rest?: Repaired<StoryFile>;
}

export function storyFrom(source: SourceFile, slug: string, paper: Paper): ReadStory {
  const data = source.data ?? source.faulty;
  if (data === null) return { problems: [] };
  const { prose: _none, slug: given, ...fields } = data;
  const problems: Problem[] = [];
  if (data.prose !== undefined) problems.push(PROSE_IS_BELOW);
  if (given !== undefined && given !== slug) {
    const message = `the slug is the file's name, ${JSON.stringify(slug)}, not ${JSON.stringify(given)}; rename the file or take the field out`;
    problems.push({ field: 'slug', rule: 'slug_form', message });
  }
  const storyOf = ({ air, placement, ...body }: z.output<typeof FrontMatter>): StoryFile => ({
    filing: filingFrom({ ...body, prose: source.body }, { slug, kind: paper.default_kind, language: paper.language }),
    air: typeof air === 'string' ? Date.parse(air) : air,
    placement: placement ?? null,
  });
  const parsed = FrontMatter.safeParse(fields);
  if (!parsed.success) {
    problems.push(...recordProblems(parsed.error, fields, FrontMatter));
    const repaired = repair(FrontMatter, fields, parsed.error);
    return { problems, ...(repaired === null ? {} : { rest: { ...repaired, data: storyOf(repaired.data) } }) };
  }
  const story = storyOf(parsed.data);
  if (problems.length > 0 || source.data === null) return { problems, rest: { data: story, fields: [] } };
  return { problems, story };
}
