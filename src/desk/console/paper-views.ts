import type { StateName } from '../archive.ts';
import type { FormField } from './fields.ts';

/** What the pages of the paper itself show: its front, its masthead, its settings. */
export interface PaperContent {
  '/console/front': {
    /** The lead, and the places beside it from 1 on. */
    slots: FrontSlot[];
    /** The revision of the placement that the form was made from. */
    revision: number;
    /** What the places would be, and what is wrong with them; null while they are as they are. */
    change: { problems: { field: string; message: string }[] } | null;
    now: FrontLine[];
    /** The front after the change that is shown; null without one, and where it cannot be. */
    after: FrontLine[] | null;
    /** The page after the change, below the console. */
    page: string;
    q: string;
    candidates: PlaceablePiece[];
    /** The sections, in the order of their rails. */
    rails: string[];
    blocks: { name: string; is_shown: boolean }[];
    /** Whether the order of rails or blocks differs from that of the paper. */
    is_rearranged: boolean;
  };
  '/console/settings': {
    groups: { title: string; fields: FormField[] }[];
    file: FolderFile;
  };
  '/console/masthead': {
    personas: PersonaLine[];
    /** The form of a new one. */
    fields: FormField[];
  };
  '/console/persona': { persona: PersonaLine; fields: FormField[]; url: string; file: FolderFile };
  '/console/media': {
    rows: MediaLine[];
    total: number;
    /** Words of the path. */
    q: string;
    /** The path of the next page below the console. */
    more: string | null;
  };
  '/console/pages': {
    pages: {
      slug: string;
      title: string;
      nav: 'footer' | 'sections' | 'none';
      order: number;
      language: string;
      url: string;
    }[];
    /** The form of a new one. */
    fields: FormField[];
    /** The path below the console of the page as it was typed. */
    draft: string;
  };
  '/console/own-page': { slug: string; url: string; fields: FormField[]; draft: string; file: FolderFile };
  '/console/cast': { editions: CastLine[]; today: string };
  '/console/edition': {
    day: string;
    /** Null for a day that has none yet. */
    edition: CastLine | null;
    fields: FormField[];
    file: FolderFile;
  };
  '/console/sections': { sections: SectionLine[]; file: FolderFile; max: number };
}

/** The file of the content folder from which a record was filed; null for one that came over the API. */
export type FolderFile = string | null;

/** A place of the front in its form. */
export interface FrontSlot {
  /** 0 is the lead. */
  place: number;
  /** Null while the newest piece takes it. */
  piece: { id: string; headline: string; language: string; section: string; state: StateName } | null;
  /** Until when, as a form has it, in UTC; empty for a place without an end. */
  until: string;
  /** Who placed it, in words. */
  by: string | null;
  /** The piece that takes the place while no piece has it. */
  free: { headline: string; language: string } | null;
  problem: string | null;
}

/** A part of the front in a list: a place, or a block with the pieces that it shows. */
export interface FrontLine {
  name: string;
  pieces: { headline: string; language: string }[];
  /** Whether an editor placed it. */
  is_placed: boolean;
}

export interface PlaceablePiece {
  id: string;
  headline: string;
  language: string;
  section: string;
  state: StateName;
  /** When it went on air or will; ISO 8601. */
  at: string;
}

export interface PersonaLine {
  slug: string;
  name: string;
  title: string;
  beat: string;
  active: boolean;
  /** The path of its portrait below the console. */
  portrait: string;
  /** Pieces on air, and drafts and scheduled ones. */
  on_air: number;
  waiting: number;
}

export interface SectionLine {
  name: string;
  /** Its path below the paper's root. */
  address: string;
  url: string;
  on_air: number;
  /** Drafts and scheduled pieces. */
  waiting: number;
}

export interface MediaLine {
  path: string;
  url: string;
  media_type: string;
  /** The path of a small picture of it below the console; null for what is none. */
  thumbnail: string | null;
  /** Size in pixels, length and bytes, in words. */
  about: string;
  alt: string | null;
  isMissing: boolean;
  /** What uses it, with its page below the console; null when that is only looked up for a single file. */
  uses: { text: string; path: string }[] | null;
}

export interface CastLine {
  day: string;
  title: string;
  kind: 'video' | 'audio';
  /** Length and bytes, in words. */
  about: string;
  poster: string | null;
  url: string;
}
