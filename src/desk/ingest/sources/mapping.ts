import { existsSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import * as z from 'zod';
import { Fault, messageOf, refusalOf } from '../../../shared/fault.ts';
import { shapeProblems } from '../../../shared/shape.ts';

/** How the names of another system become those of the paper: a file of `--map`. */
const Mapping = z.strictObject({
  /** The section of each category. One that is not listed becomes a section of its own, or falls to `section`. */
  sections: z.record(z.string(), z.string()).default({}),
  /** The section of pieces whose categories none is listed for. */
  section: z.string().optional(),
  /** The name of each author, by name or login; null leaves the name out. */
  authors: z.record(z.string(), z.string().nullable()).default({}),
  /** Names an author where the archive names none. */
  author: z.string().optional(),
});
export type Mapping = z.infer<typeof Mapping>;

export const NO_MAPPING: Mapping = { sections: {}, authors: {} };

/** A mapping in YAML. Throws `not_found`, and `invalid_request` with every problem. */
export function readMapping(file: string): Mapping {
  if (!existsSync(file))
    throw new Fault('not_found', `${file} does not exist; name a YAML file, as docs/moving.md shows one`);
  let value: unknown;
  try {
    value = parse(readFileSync(file, 'utf8'), { maxAliasCount: 0 }) ?? {};
  } catch (error) {
    throw new Fault('invalid_request', `${file} is not YAML (${messageOf(error)}); correct it`);
  }
  const parsed = Mapping.safeParse(value);
  if (!parsed.success) throw refusalOf(shapeProblems(parsed.error, value));
  return parsed.data;
}

/** The section of a piece, and which of its categories become tags. */
export function placed(mapping: Mapping, categories: readonly string[]): { section: string | null; tags: string[] } {
  const mapped = categories.find((name) => Object.hasOwn(mapping.sections, name));
  const main = mapped ?? (mapping.section === undefined ? categories[0] : undefined);
  const section = mapped === undefined ? (mapping.section ?? main ?? null) : (mapping.sections[mapped] ?? null);
  return { section, tags: categories.filter((name) => name !== main && name !== section) };
}

export function namedAuthors(mapping: Mapping, authors: readonly string[], fallback: string): string[] {
  const named = authors.map((name) => (Object.hasOwn(mapping.authors, name) ? mapping.authors[name] : name));
  const known = [...new Set(named.filter((name) => typeof name === 'string' && name.trim() !== ''))] as string[];
  if (known.length > 0) return known;
  const given = mapping.author ?? fallback;
  return given === '' ? [] : [given];
}
