/** How the names of another system become those of the paper. */
export interface Mapping {
  /** The section of each category. One that is not listed becomes a section of its own, or falls to `section`. */
  sections: Record<string, string>;
  /** The section of pieces whose categories none is listed for. */
  section?: string | undefined;
  /** The name of each author, by name or login; null leaves the name out. */
  authors: Record<string, string | null>;
  /** Names an author where the archive names none. */
  author?: string | undefined;
}

export const NO_MAPPING: Mapping = { sections: {}, authors: {} };

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
