import type { FactVersion } from '../proof/fact-note.ts';
import { HOUR } from '../proof/time.ts';
import type { Row } from './archive.ts';
import type { FactToRevise } from './evidence.ts';
import type { Cast } from './papers/cast.ts';

/** How long after its own time a change counts as news, in ms. Older material is an imported archive. */
export const NEWS_AGE = 48 * HOUR;

/** A change that readers see. It carries its content, so that a later delivery announces the same. */
export type DeskEvent = StoryEvent | WithdrawalEvent | CastEvent | FactEvent | FindingEvent;

interface EventBase {
  paper: string;
  /** When readers first saw it, in ms. */
  at: number;
}

/** A piece went on air, for the first time or again after a withdrawal; or a piece on air was revised. */
export interface StoryEvent extends EventBase {
  type: 'story.aired' | 'story.revised';
  /** The piece at that time. */
  story: Row;
  /** The section that the piece left with this revision, else null. */
  left: string | null;
}

interface WithdrawalEvent extends EventBase {
  type: 'story.withdrawn';
  /** The piece as it was on air. */
  story: Row;
  reason: string;
  /** Receivers then learn of the piece by its id alone. */
  headline_withheld: boolean;
}

/** The edition of a day was published or replaced. */
export interface CastEvent extends EventBase {
  type: 'cast.published';
  cast: Cast;
}

/** A fact that pieces on air cite has a new version. */
export interface FactEvent extends EventBase {
  type: 'fact.corrected';
  fact: FactVersion;
  /** The sections of the pieces on air that cite it. */
  sections: string[];
}

/** The source of a fact that pieces on air cite no longer supports it. */
export interface FindingEvent extends EventBase {
  type: 'fact.to_revise';
  found: FactToRevise;
  /** The slug of the piece that contains the entry; null for a recorded fact. */
  slug: string | null;
  /** The sections of the pieces on air that cite it. */
  sections: string[];
}

/** Whether something dated `of` is still news at `at`; both in ms. */
export function isNews(of: number, at: number): boolean {
  return at - of <= NEWS_AGE;
}

/** The sections whose subscribers receive an event; null for all, because an edition belongs to no section. */
export function eventSections(event: DeskEvent): string[] | null {
  if (event.type === 'cast.published') return null;
  if (event.type === 'fact.corrected' || event.type === 'fact.to_revise') return event.sections;
  const { category } = event.story;
  return event.type === 'story.withdrawn' || event.left === null ? [category] : [category, event.left];
}
