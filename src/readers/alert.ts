import type { CastEvent, StoryEvent } from '../desk/event.ts';
import { isNews } from '../desk/event.ts';
import type { KeptEvent } from './event-table.ts';
import type { Choices } from './subscriber.ts';

/** A confirmed reader who is not suppressed. */
export interface Reader extends Chooser {
  /** The subscriber's id. */
  id: string;
  /** The last event that digests are through with; null before the first digest. */
  through: number | null;
}

/** An event that mails tell of. */
export type AlertEvent = ((StoryEvent & { type: 'story.aired' }) | CastEvent) & Pick<KeptEvent, 'n' | 'id'>;

/**
 * Whether mails tell of an event: a piece that went on air for the first time,
 * and the first video edition of a day. A revision is not told, a correction
 * neither: the piece's page and the corrections page say it; and who got the
 * piece once does not get it again when it comes back from a withdrawal.
 */
export function isAlert(event: KeptEvent, wasToldBefore: boolean): event is AlertEvent {
  if (wasToldBefore) return false;
  if (event.type === 'story.aired') return isNews(event.story.published_at, event.at);
  return event.type === 'cast.published';
}

/** What an event is about: the piece's id, or the day of the video edition. */
export function subjectIdOf(event: AlertEvent): string {
  return event.type === 'story.aired' ? event.story.id : event.cast.day;
}

/** A reader as far as choosing goes. */
export interface Chooser extends Choices {
  confirmed_at: number;
}

/** Whether a reader asked for what an event tells: by section, or the video edition; and since the confirmation. */
export function wants({ sections, cast, confirmed_at }: Chooser, event: AlertEvent): boolean {
  if (event.at < confirmed_at) return false;
  if (event.type === 'cast.published') return cast;
  return sections === null || sections.includes(event.story.category);
}
