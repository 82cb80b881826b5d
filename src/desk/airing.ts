import { Fault, refused } from '../fault.ts';
import { isLine, airingProblems } from '../ledger/door.ts';
import { normalized } from '../ledger/marks.ts';
import { append } from './append.ts';
import type { Archive, Story } from './archive.ts';
import type { Desk } from './filing.ts';
import { paperRules } from './filing.ts';

/** The longest reason of a withdrawal, in UTF-16 units. */
const REASON_MAX = 1_000;

/**
 * Puts a piece on air: now, or at `at` (ms). A time that has passed is the
 * piece's date, for a desk that brings its archive along. Nothing happens to a
 * piece that is on air already. Throws `not_found`, `refused_by_door`.
 */
export function airStory(
  desk: Desk,
  paper: string,
  slug: string,
  options: { by: string; at?: number },
): { story: Story; changed: boolean } {
  return desk.store.transact(() => {
    const archive = desk.store.archive(paper);
    const story = requireStory(archive, paper, slug);
    if (story.state === 'on_air') return { story, changed: false };
    const now = desk.now();
    // Nothing is on air before it was filed, also where the clock was set back since.
    const filed = Date.parse(archive.generations(story.id).at(-1)?.filed_at ?? '') || 0;
    const on_air_at = options.at ?? Math.max(now, filed);
    if (story.state === 'scheduled' && story.scheduled_at === on_air_at) return { story, changed: false };
    const problems = airingProblems(story, paperRules(archive));
    if (problems.length > 0) throw refused(problems);
    // What is for a time to come is scheduled by the clock as it is.
    const at = on_air_at > now && options.at !== undefined ? now : Math.max(now, filed);
    append(desk.store, { type: 'airing', at, paper, piece: story.id, on_air_at, made_by: options.by }, now);
    return { story: requireStory(archive, paper, slug), changed: true };
  });
}

/**
 * Takes a piece off the air, or off its schedule. It leaves the lists and
 * feeds, and its page becomes a notice. Throws `not_found`, `conflict` when
 * the piece was not on air, `invalid_request` without a reason.
 */
export function withdrawStory(desk: Desk, paper: string, slug: string, options: { by: string; reason: string }): Story {
  const reason = normalized(options.reason).trim();
  if (reason === '' || reason.length > REASON_MAX || !isLine(reason)) {
    throw new Fault(
      'invalid_request',
      `a withdrawal wants a reason of one line, 1 to ${REASON_MAX} characters; readers will see it`,
      {
        field: 'reason',
      },
    );
  }
  return desk.store.transact(() => {
    const archive = desk.store.archive(paper);
    const story = requireStory(archive, paper, slug);
    if (story.state !== 'on_air' && story.state !== 'scheduled') {
      throw new Fault('conflict', `${slug} is not on air (it is ${story.state}); there is nothing to withdraw`);
    }
    const now = desk.now();
    // What readers saw, they saw before it was withdrawn.
    const at = story.state === 'on_air' ? Math.max(now, story.updated_at) : now;
    append(desk.store, { type: 'withdrawal', at, paper, piece: story.id, reason, made_by: options.by }, now);
    return requireStory(archive, paper, slug);
  });
}

function requireStory(archive: Archive, paper: string, slug: string): Story {
  const story = archive.storyBySlug(slug);
  if (story === null) {
    throw new Fault('not_found', `the paper ${paper} has no piece with the slug ${JSON.stringify(slug)}`);
  }
  return story;
}
