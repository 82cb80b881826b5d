import type { Row } from './archive.ts';
import type { Persona } from './masthead.ts';
import type { PaperRecord } from './paper.ts';
import { sectionSlug } from './paper.ts';
import type { Links, StoryRow } from './story.ts';
import { storyRow } from './story.ts';

/** How many pieces a rail of the front holds. */
export const RAIL_MAX = 6;

/** A paper's settings as the API shows them (spec, "Config"). */
export interface Config {
  nameplate: string;
  motto: string;
  hue: number;
  sections: string[];
  default_kind: 'news' | 'blog';
  paper_public: boolean;
  source_floor: number;
}

/** One row of the masthead (spec, "Masthead row"). */
export interface MastheadRow {
  name: string;
  slug: string;
  title: string;
  beat: string;
  avatar: string | null;
  declared_ai: true;
  url: string;
}

/** The front document: `/front.json` and `GET /api/v1/front`. */
export interface Front {
  desk: string;
  paper: Config & { url: string };
  newsroom: MastheadRow[];
  rails: { section: string; slug: string; url: string; stories: StoryRow[] }[];
  edition: number;
  updated_at: string;
}

export function configOf(paper: PaperRecord): Config {
  const { nameplate, motto, hue, sections, default_kind, paper_public, source_floor } = paper;
  return { nameplate, motto, hue, sections, default_kind, paper_public, source_floor };
}

export function mastheadRow(persona: Persona, links: Links): MastheadRow {
  const { name, slug, title, beat } = persona;
  return {
    name,
    slug,
    title,
    beat,
    avatar: links.avatar(slug),
    declared_ai: true,
    url: `${links.root}/masthead/${slug}/`,
  };
}

/** Puts the front document together: one rail for each section, in the paper's order. */
export function frontOf(
  paper: PaperRecord,
  number: { edition: number; changed_at: number },
  newsroom: Persona[],
  newest: (section: string) => Row[],
  links: Links,
): Front {
  return {
    desk: paper.slug,
    paper: { ...configOf(paper), url: links.root },
    newsroom: newsroom.map((persona) => mastheadRow(persona, links)),
    rails: paper.sections.map((section) => ({
      section,
      slug: sectionSlug(section),
      url: `${links.root}/sections/${sectionSlug(section)}/`,
      stories: newest(section).map((row) => storyRow(row, links)),
    })),
    edition: number.edition,
    updated_at: new Date(number.changed_at).toISOString(),
  };
}
