import * as z from 'zod';
import { isoTime } from '../../proof/time.ts';
import type { Archive, Row } from '../archive.ts';
import { KINDS, SOURCE_FLOOR_MIN } from '../door/piece.ts';
import { PINS_MAX, type Place, type Placement } from '../placement.ts';
import { type Links, StoryRow, storyRow } from '../story.ts';
import type { Persona } from './masthead.ts';
import { type PaperRecord, sectionSlug } from './paper.ts';

/** How many pieces a rail of the front holds. */
export const RAIL_MAX = 6;

/** A paper's settings as the API shows them. */
export const Config = z
  .object({
    nameplate: z.string(),
    motto: z.string(),
    hue: z.int().min(0).max(359),
    sections: z.array(z.string()).meta({ description: 'In the paper’s order.' }),
    default_kind: z.enum(KINDS),
    paper_public: z.boolean(),
    source_floor: z
      .int()
      .min(SOURCE_FLOOR_MIN)
      .meta({ description: 'Distinct publishers that a piece on air needs, unless its `provenance` is `archive`.' }),
  })
  .meta({ id: 'Config', description: 'A paper’s settings.' });
export type Config = z.infer<typeof Config>;

/** One row of the masthead. */
export const MastheadRow = z
  .object({
    name: z.string(),
    slug: z.string(),
    title: z.string(),
    beat: z.string(),
    avatar: z.url().meta({
      description: 'A portrait at an address that never changes, for linking; one is drawn if the desk has none.',
    }),
    declared_ai: z.literal(true),
    url: z.url(),
  })
  .meta({ id: 'Persona', description: 'A declared AI persona of the desk.' });
export type MastheadRow = z.infer<typeof MastheadRow>;

const PlaceRow = z.object({
  id: z.string(),
  slug: z.string(),
  until: z.iso
    .datetime()
    .nullable()
    .meta({ description: 'When the place becomes free again; null when no time is set.' }),
});

/** An editor's placement as readers see it: only pieces on air. */
export const PlacementRow = z
  .object({
    lead: PlaceRow.nullable().meta({ description: 'null when the newest piece leads.' }),
    pins: z.array(PlaceRow.extend({ pin: z.int().min(1).max(PINS_MAX) })),
    revision: z.int().min(0).meta({ description: 'Grows with every change of the placement.' }),
  })
  .meta({ id: 'Placement', description: 'The pieces that an editor placed on the front.' });
export type PlacementRow = z.infer<typeof PlacementRow>;

/** The front document: `/front.json` and `GET /api/v1/front`. */
export const Front = z
  .object({
    desk: z.string(),
    paper: Config.extend({ url: z.url() }).meta({ id: 'FrontPaper' }),
    newsroom: z.array(MastheadRow),
    rails: z.array(
      z.object({ section: z.string(), slug: z.string(), url: z.url(), stories: z.array(StoryRow).max(RAIL_MAX) }),
    ),
    placement: PlacementRow,
    edition: z.int().min(0).meta({ description: 'Grows with every change that a reader can see.' }),
    updated_at: z.iso.datetime().meta({ description: 'Of the last such change.' }),
  })
  .meta({ id: 'Front', description: 'The front page as data: one rail a section, in the paper’s order.' });
export type Front = z.infer<typeof Front>;

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

/** A placement as the API shows it. */
export function placementRow({ lead, pins, revision }: Placed): PlacementRow {
  const place = ({ row, until }: { row: Row; until: number | null }) => ({
    id: row.id,
    slug: row.slug,
    until: until === null ? null : isoTime(until),
  });
  return {
    lead: lead === null ? null : place(lead),
    pins: pins.map((one) => ({ ...place(one), pin: one.pin })),
    revision,
  };
}

/** Builds the front document: one rail per section, in the paper's order. */
export function frontOf(
  paper: PaperRecord,
  number: { edition: number; changed_at: number },
  newsroom: Persona[],
  newest: (section: string) => Row[],
  placement: Placed,
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
    placement: placementRow(placement),
    edition: number.edition,
    updated_at: isoTime(number.changed_at),
  };
}

/** A placement with its pieces. */
export interface Placed {
  lead: { row: Row; until: number | null } | null;
  pins: { row: Row; until: number | null; pin: number }[];
  revision: number;
}

/** The placement as readers see it; with `all`, as the desk sees it, including pieces that are not on air yet. */
export function placed(placement: Placement, storyOf: Archive['storyById'], all = false): Placed {
  const shown = <T extends Place>(place: T): (Omit<T, 'piece' | 'made_by'> & { row: Row })[] => {
    const { piece, made_by: _by, ...rest } = place;
    const row = storyOf(piece);
    return row === null || (row.state !== 'on_air' && !all) ? [] : [{ ...rest, row }];
  };
  const { lead, pins, revision } = placement;
  return { lead: lead === null ? null : (shown(lead)[0] ?? null), pins: pins.flatMap(shown), revision };
}
