import type { Row } from './archive.ts';

/** Absolute addresses of what a row points at; who answers knows them. */
export interface Links {
  /** The paper's root, without a slash at its end. */
  root: string;
  avatar(persona: string): string | null;
  /** The piece's own art, else its share card. */
  image(row: Row): string;
}

/** A story as lists carry it (spec, "Story"; wire.md, section 3). */
export interface StoryRow {
  id: string;
  slug: string;
  headline: string;
  dek: string;
  category: string;
  kind: 'news' | 'blog';
  byline: { name: string; title: string; avatar: string | null };
  published_at: string;
  updated_at: string;
  revision: number;
  url: string;
  image: string;
}

const iso = (ms: number): string => new Date(ms).toISOString();

/** The address of a story's page. */
export function storyUrl(root: string, slug: string): string {
  return `${root}/stories/${slug}/`;
}

/** A row on the wire. */
export function storyRow(row: Row, links: Links): StoryRow {
  return {
    id: row.id,
    slug: row.slug,
    headline: row.headline,
    dek: row.dek,
    category: row.category,
    kind: row.kind,
    byline: { ...row.byline, avatar: links.avatar(row.persona) },
    published_at: iso(row.published_at),
    updated_at: iso(row.updated_at),
    revision: row.revision,
    url: storyUrl(links.root, row.slug),
    image: links.image(row),
  };
}

/** Languages written without blanks between words, whose words only a dictionary can part. */
const UNSPACED = /^(?:ja|zh|th|km|lo|my)\b/i;

/** Markers and the targets of links, whose letters are no words of the piece. */
const MARK_UP = /\[\^\d+\]|\]\([^)\s]*\)/g;
const WORD = /[\p{L}\p{N}]/u;

/** How many words a prose has, in the manner of its language. */
export function wordCount(prose: string, language: string): number {
  const text = prose.replace(MARK_UP, ' ');
  if (!UNSPACED.test(language)) {
    let words = 0;
    for (const part of text.split(/\s+/)) if (WORD.test(part)) words++;
    return words;
  }
  let words = 0;
  for (const part of new Intl.Segmenter(language, { granularity: 'word' }).segment(text)) {
    if (part.isWordLike) words++;
  }
  return words;
}
