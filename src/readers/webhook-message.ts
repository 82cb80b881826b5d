import { castRow } from '../desk/cast.ts';
import type { DeskEvent } from '../desk/event.ts';
import type { Links } from '../desk/story.ts';
import { storyRow, storyUrl } from '../desk/story.ts';
import { noticeOf } from '../desk/withdrawal.ts';
import { eventBody } from '../outbound/event-body.ts';
import { isoTime } from '../time.ts';

/** The body of an event's webhook message. `links` are the paper's. */
export function messageOf(event: DeskEvent, links: Links): string {
  return eventBody(event.type, event.at, dataOf(event, links));
}

function dataOf(event: DeskEvent, links: Links): object {
  if (event.type === 'cast.published') return castRow(event.cast, links.root);
  const row = storyRow(event.story, links);
  // Every byline that is shown declares an AI author.
  if (event.type !== 'story.withdrawn') return { ...row, byline: { ...row.byline, declared_ai: true } };
  const named = noticeOf({ ...event.story, headline_withheld: event.headline_withheld });
  return {
    id: row.id,
    ...(named === null ? { headline_withheld: true } : { slug: named.slug, url: storyUrl(links.root, named.slug) }),
    withdrawn_at: isoTime(event.at),
    reason: event.reason,
  };
}
