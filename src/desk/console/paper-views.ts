import type { StateName } from '../archive.ts';
import type { FormField } from './fields.ts';

/** The content of the console's pages about the paper itself: its front, its masthead, its settings. */
export interface PaperContent {
  '/console/front': {
    /** The lead, then the places beside it, numbered from 1. */
    slots: FrontSlot[];
    /** The revision of the placement from which the form was made. */
    revision: number;
    /** The problems of the change that the form shows; null if it shows none. */
    change: { problems: { field: string; message: string }[] } | null;
    now: FrontLine[];
    /** The front after the change; null without a change, or if the change is impossible. */
    after: FrontLine[] | null;
    /** The path below the console of a preview of the changed page. */
    page: string;
    q: string;
    candidates: PlaceablePiece[];
    /** The sections, in the order of their rails. */
    rails: string[];
    blocks: { name: string; is_shown: boolean }[];
    /** Whether the order of rails or blocks differs from the paper's. */
    is_rearranged: boolean;
  };
  '/console/settings': {
    groups: { title: string; fields: FormField[] }[];
    file: FolderFile;
  };
  '/console/masthead': {
    personas: PersonaLine[];
    /** The form for a new one. */
    fields: FormField[];
  };
  '/console/persona': { persona: PersonaLine; fields: FormField[]; url: string; file: FolderFile };
  '/console/media': {
    rows: MediaLine[];
    total: number;
    /** Words to find in the path. */
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
    /** The form for a new one. */
    fields: FormField[];
    /** The path below the console of a preview of the page as typed. */
    draft: string;
  };
  '/console/own-page': { slug: string; url: string; fields: FormField[]; draft: string; file: FolderFile };
  '/console/cast': { editions: CastLine[]; today: string };
  '/console/edition': {
    day: string;
    /** Null for a day without an edition. */
    edition: CastLine | null;
    fields: FormField[];
    file: FolderFile;
  };
  '/console/sections': { sections: SectionLine[]; file: FolderFile; max: number };
}

/** The file of the content folder from which a record was filed; null if it was filed through the API. */
export type FolderFile = string | null;

/** A place on the front in its form. */
export interface FrontSlot {
  /** 0 is the lead. */
  place: number;
  /** Null while the newest piece takes the place. */
  piece: { id: string; headline: string; language: string; section: string; state: StateName } | null;
  /** When the place becomes free, as the form's value, in UTC; empty if it never does. */
  until: string;
  /** Who placed it, in words. */
  by: string | null;
  /** The piece that fills the place if no piece is placed there. */
  free: { headline: string; language: string } | null;
  problem: string | null;
}

/** An item in the list of the front: a place, or a block with the pieces that it shows. */
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
  /** How many pieces are on air, and how many are drafts or scheduled. */
  on_air: number;
  waiting: number;
}

export interface SectionLine {
  name: string;
  /** Its path below the paper's root. */
  address: string;
  url: string;
  on_air: number;
  /** How many pieces are drafts or scheduled. */
  waiting: number;
}

export interface MediaLine {
  path: string;
  url: string;
  media_type: string;
  /** The path below the console of a small picture of it; null if it is not a picture. */
  thumbnail: string | null;
  /** Dimensions in pixels, duration and file size, in words. */
  about: string;
  alt: string | null;
  isMissing: boolean;
  /** What uses it, with the page of each use below the console; null in lists, which do not look it up. */
  uses: { text: string; path: string }[] | null;
}

export interface CastLine {
  day: string;
  title: string;
  kind: 'video' | 'audio';
  /** Duration and file size, in words. */
  about: string;
  poster: string | null;
  url: string;
}
