import type * as z from 'zod';
import type { Problem } from '../../shared/shape.ts';
import { fieldName } from '../../shared/shape.ts';

/** Stand-ins for members that are missing or of the wrong type, by name. Wrong members of other names are removed. */
const STAND_INS: Record<string, unknown> = {
  ...{ slug: 'x', headline: 'x', dek: 'x', category: 'x', section: 'x', byline: 'x', prose: 'x', cited_facts: [] },
  ...{ statement: 'x', source: 'x', instrument: 'x', src: 'x', alt: 'x', name: 'x' },
  ...{ published_at: '2000-01-01T00:00:00Z', revision: 1 },
};
const FACT = { statement: 'x', source: 'x', instrument: 'x' };

/** Rules that compare a prose with its facts or count the facts. They are meaningless if either is a stand-in. */
const RELATIONS = new Set(['marker_without_entry', 'entry_without_marker', 'source_floor']);

/** A value that did not match its schema, with stand-ins for its wrong members. */
export interface Repaired<T> {
  data: T;
  /** The members that were replaced. */
  fields: string[];
}

/**
 * Repairs a value so that the filing door can also report problems in its valid members. Returns null when the value is
 * beyond repair. `error` is the error from parsing the value.
 */
export function repair<T extends z.ZodType>(
  schema: T,
  value: unknown,
  error: z.ZodError,
): Repaired<z.output<T>> | null {
  let mended = value;
  const fields: string[] = [];
  for (const issue of error.issues) {
    const paths = issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key]) : [issue.path];
    for (const path of paths) {
      mended = withStandIn(mended, path);
      if (issue.code !== 'unrecognized_keys') fields.push(fieldName(path));
    }
  }
  const parsed = schema.safeParse(mended);
  return parsed.success ? { data: parsed.data, fields } : null;
}

/** The problems of a repaired value that also apply to the original value. */
export function ofGiven(problems: Problem[], fields: readonly string[]): Problem[] {
  const isWrong = (name: string) =>
    fields.some((field) => name === field || name.startsWith(`${field}.`) || name.startsWith(`${field}[`));
  const isFactWrong = fields.some((field) => field === 'prose' || field.startsWith('cited_facts'));
  const isListWrong = fields.some((field) => field === 'prose' || field === 'cited_facts');
  return problems.filter(
    ({ field, rule }) =>
      !isWrong(field) && !(isListWrong && RELATIONS.has(rule)) && !(isFactWrong && rule === 'source_floor'),
  );
}

/** Copies a value with a stand-in at a path. `name` is the member name of the value itself. */
function withStandIn(value: unknown, [key, ...rest]: readonly PropertyKey[], name = ''): unknown {
  if (key === undefined || typeof value !== 'object' || value === null) return value;
  const isList = Array.isArray(value);
  const copy = (isList ? [...value] : { ...value }) as Record<PropertyKey, unknown>;
  if (rest.length > 0) copy[key] = withStandIn(copy[key], rest, String(key));
  else if (isList) copy[key] = name === 'cited_facts' ? FACT : 'x';
  else if (Object.hasOwn(STAND_INS, key)) copy[key] = STAND_INS[String(key)];
  else delete copy[key];
  return copy;
}
