import type * as z from 'zod';
import type { Problem } from '../../shared/shape.ts';
import { shapeProblems } from '../../shared/shape.ts';

/** The problem of a Markdown file with `prose` in its front matter. */
export const PROSE_IS_BELOW: Problem = {
  field: 'prose',
  rule: 'unknown_field',
  message: 'the prose is the text below the front matter; move it there',
};

/** The problems with the shape of a record that a person wrote, each with a remedy for the file. */
export function recordProblems(error: z.ZodError, value: unknown, schema: z.ZodType): Problem[] {
  return shapeProblems(error, value).map((problem) => {
    const path = problem.field.split(/[.[\]]+/).filter((part) => part !== '');
    if (problem.rule === 'unknown_field') return { ...problem, message: unknownField(path, schema) };
    if (problem.rule === 'wrong_type' && isBare(value, path) && /: must be .{0,80}text/.test(problem.message)) {
      return { ...problem, message: `${problem.message}; put it in quotes` };
    }
    return problem;
  });
}

function unknownField(path: readonly string[], schema: z.ZodType): string {
  const fields = fieldsAt(schema, path.slice(0, -1));
  const meant = nearest(path.at(-1) ?? '', fields);
  if (meant !== null) return `there is no field of this name; did you mean ${meant}?`;
  return `there is no field of this name; take it out, or use one of ${fields.join(', ')}`;
}

/** Whether the value at a path is a number, true or false, which YAML makes of unquoted text. */
function isBare(value: unknown, path: readonly string[]): boolean {
  let at = value;
  for (const key of path) at = (at as Record<string, unknown> | null | undefined)?.[key];
  return typeof at === 'number' || typeof at === 'boolean';
}

function fieldsAt(schema: z.ZodType, path: readonly string[]): string[] {
  let at: Definition | undefined = definitionOf(schema);
  for (const key of path) at = at?.shape === undefined ? definitionOf(at?.element) : definitionOf(at.shape[key]);
  return Object.keys(at?.shape ?? {});
}

/** The parts of a schema's definition that lead to its fields. */
interface Definition {
  shape?: Record<string, z.ZodType>;
  element?: z.ZodType;
  innerType?: z.ZodType;
  in?: z.ZodType;
}

/** The definition of a schema, without wrappers such as defaults and transforms. */
function definitionOf(schema: z.ZodType | undefined): Definition | undefined {
  const def = schema?.def as Definition | undefined;
  const inner = def?.innerType ?? def?.in;
  return inner === undefined ? def : definitionOf(inner);
}

/** The name that was probably meant; null if none is similar. */
function nearest(given: string, names: readonly string[]): string | null {
  const word = given.toLowerCase();
  const distances = names.map((name) => ({ name, distance: distance(word, name) }));
  const best = distances.sort((a, b) => a.distance - b.distance)[0];
  if (best !== undefined && best.distance <= Math.max(1, Math.floor(word.length / 3))) return best.name;
  const part = names.find((name) => word.length >= 3 && (name.includes(word) || word.includes(name)));
  const synonym = SYNONYMS[word];
  return part ?? (synonym !== undefined && names.includes(synonym) ? synonym : null);
}

/** Names of these fields in other systems. */
const SYNONYMS: Record<string, string> = {
  title: 'nameplate',
  color: 'hue',
  colour: 'hue',
  tagline: 'motto',
  categories: 'sections',
  domain: 'url',
  mail: 'contact',
};

/** The edit distance of two words; swapping two neighboring letters counts as one edit. */
function distance(a: string, b: string): number {
  let [before, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? (before[j - 2] ?? Infinity) + 1 : Infinity;
      const changed = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, changed, swapped));
    }
    [before, last] = [last, row];
  }
  return last[b.length] ?? 0;
}
