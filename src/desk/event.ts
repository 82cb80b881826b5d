import { HOUR } from '../time.ts';
import type { Row } from './archive.ts';
import type { Cast } from './cast.ts';

/** How long after its time something is still news, in ms. What is older when it comes in is an archive that a desk brings along. */
export const NEWS_AGE = 48 * HOUR;

/**
 * Something that readers now see and did not see before, as those who asked to
 * be told are told of it. It holds what it tells, so that whoever comes to it
 * later tells the same.
 */
export type DeskEvent = StoryEvent | WithdrawalEvent | CastEvent;

interface EventBase {
  paper: string;
  /** When readers began to see it, in ms. */
  at: number;
}

/** A piece went on air, for the first time or again after a withdrawal; or a piece on air was revised. */
export interface StoryEvent extends EventBase {
  type: 'story.aired' | 'story.revised';
  /** The piece as it was then. */
  story: Row;
  /** The section that the piece left with this revision; else null. */
  left: string | null;
}

export interface WithdrawalEvent extends EventBase {
  type: 'story.withdrawn';
  /** The piece as it was on air. */
  story: Row;
  reason: string;
}

/** The video edition of a day is there, or is another one. */
export interface CastEvent extends EventBase {
  type: 'cast.published';
  cast: Cast;
}

/** Whether what is of one time is news at another; both in ms. */
export function isNews(of: number, at: number): boolean {
  return at - of <= NEWS_AGE;
}

/** The sections whose readers an event is for; null for all of them: a video edition is of no section. */
export function eventSections(event: DeskEvent): string[] | null {
  if (event.type === 'cast.published') return null;
  const { category } = event.story;
  return event.type === 'story.withdrawn' || event.left === null ? [category] : [category, event.left];
}
