import type { z } from '@hono/zod-openapi';
import { type FilingBody, filingFrom } from '../../../src/desk/door/filing.ts';
import { ofGiven, repair } from '../../../src/desk/door/repair.ts';
import { doorProblems, paperRules } from '../../../src/desk/file-story.ts';
import type { AppContext } from '../../../src/server/context.ts';
import type { Problem } from '../../../src/shared/shape.ts';
import { shapeProblems } from '../../../src/shared/shape.ts';
import type { PaperContext } from '../../env.ts';
import { invalid, rejectInvalid, type Validated } from '../../middleware/invalid.ts';
import { archiveOf } from '../context.ts';

/** A schema of a piece's body. */
type StorySchema = z.ZodType<FilingBody & { air?: boolean | string | undefined }>;

/** Rejects a piece's body of the wrong shape with every problem: those of its shape, and those that the door finds. */
export function rejectStory(app: AppContext, schema: StorySchema) {
  return (result: Validated, c: PaperContext): undefined => {
    if (result.success || result.target !== 'json') return rejectInvalid(result);
    throw invalid(bodyProblems(app, c, { schema, ...result }));
  };
}

/** The problems of a body that does not match its schema. */
export function bodyProblems(
  app: AppContext,
  c: PaperContext,
  { schema, data, error }: { schema: StorySchema; data?: unknown; error: z.ZodError },
): Problem[] {
  const problems = shapeProblems(error, data);
  const repaired = repair(schema, data, error);
  if (repaired === null) return problems;
  const { default_kind: kind, language } = c.get('site').paper;
  const { air = false, slug = 'x', ...fields } = repaired.data;
  const filing = filingFrom(fields, { slug, kind, language });
  const rules = paperRules(archiveOf(app, c));
  const found = doorProblems(filing, rules, { now: app.clock.now(), toAir: air !== false });
  return [...problems, ...ofGiven(found, repaired.fields)];
}
