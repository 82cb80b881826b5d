import { castRow } from '../desk/cast.ts';
import type { DeskEvent } from '../desk/event.ts';
import type { Links } from '../desk/story.ts';
import { storyRow, storyUrl } from '../desk/story.ts';
import { isoTime } from '../time.ts';

/** What a webhook is sent (wire.md, "Subscribers, mail, webhooks"), as JSON. `links` are the paper's. */
export function messageOf(event: DeskEvent, links: Links): string {
  return bodyOf(event.type, event.at, dataOf(event, links));
}

/** What a webhook is sent when somebody tries it. */
export function testMessage(paper: string, webhook: string, at: number): string {
  return bodyOf('webhook.test', at, { paper, webhook });
}

function bodyOf(type: string, at: number, data: object): string {
  return JSON.stringify({ type, timestamp: isoTime(at), data });
}

function dataOf(event: DeskEvent, links: Links): object {
  if (event.type === 'cast.published') return castRow(event.cast, links.root);
  const row = storyRow(event.story, links);
  // Where a byline is shown, it is shown whose it is.
  if (event.type !== 'story.withdrawn') return { ...row, byline: { ...row.byline, declared_ai: true } };
  return {
    id: row.id,
    slug: row.slug,
    url: storyUrl(links.root, row.slug),
    withdrawn_at: isoTime(event.at),
    reason: event.reason,
  };
}
