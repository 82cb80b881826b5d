import type { CastEvent, StoryEvent } from '../desk/event.ts';
import { isNews } from '../desk/event.ts';
import type { KeptEvent } from './event-table.ts';
import type { Choices } from './subscriber.ts';

/** A confirmed reader who is not suppressed. */
export interface Reader extends Chooser {
  /** The subscriber's id. */
  id: string;
  /** The last event that digests have covered; null before the first digest. */
  through: number | null;
}

/** An event that causes a mail. */
export type AlertEvent = ((StoryEvent & { type: 'story.aired' }) | CastEvent) & Pick<KeptEvent, 'n' | 'id'>;

/**
 * Whether an event causes a mail: the first airing of a piece, and the first video edition of a day. Revisions and
 * corrections do not, since the piece's page and the corrections page show them; neither does a piece that returns
 * after a withdrawal.
 */
export function isAlert(event: KeptEvent, isRepeat: boolean): event is AlertEvent {
  if (isRepeat) return false;
  if (event.type === 'story.aired') return isNews(event.story.published_at, event.at);
  return event.type === 'cast.published';
}

/** The subject of an event: the piece's id, or the day of the video edition. */
export function subjectIdOf(event: AlertEvent): string {
  return event.type === 'story.aired' ? event.story.id : event.cast.day;
}

/** A reader's choices. */
export interface Chooser extends Choices {
  confirmed_at: number;
}

/** Whether a reader wants an event, by section or as a video edition. Events before the confirmation are not wanted. */
export function wants({ sections, cast, confirmed_at }: Chooser, event: AlertEvent): boolean {
  if (event.at < confirmed_at) return false;
  if (event.type === 'cast.published') return cast;
  return sections === null || sections.includes(event.story.category);
}
