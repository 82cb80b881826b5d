import { castRow } from '../desk/cast.ts';
import type { DeskEvent } from '../desk/event.ts';
import type { Links } from '../desk/story.ts';
import { storyRow, storyUrl } from '../desk/story.ts';
import { eventBody } from '../outbound/event-body.ts';
import { isoTime } from '../time.ts';

/** The body that webhooks get of an event. `links` are the paper's. */
export function messageOf(event: DeskEvent, links: Links): string {
  return eventBody(event.type, event.at, dataOf(event, links));
}

function dataOf(event: DeskEvent, links: Links): object {
  if (event.type === 'cast.published') return castRow(event.cast, links.root);
  const row = storyRow(event.story, links);
  // Wherever a byline is shown, it is declared.
  if (event.type !== 'story.withdrawn') return { ...row, byline: { ...row.byline, declared_ai: true } };
  return {
    id: row.id,
    slug: row.slug,
    url: storyUrl(links.root, row.slug),
    withdrawn_at: isoTime(event.at),
    reason: event.reason,
  };
}
