import type { AppContext } from '../../src/app/context.ts';
import type { Archive, Story } from '../../src/desk/archive.ts';
import { isWithdrawn } from '../../src/desk/archive.ts';
import type { Links } from '../../src/desk/story.ts';
import { Fault } from '../../src/fault.ts';
import { Edition, siteOf } from '../../src/press/edition.ts';
import { memoized } from '../../src/press/memoized.ts';
import { linksOf } from '../../src/press/outputs/row-view.ts';
import { isoTime } from '../../src/time.ts';
import type { PaperContext } from '../env.ts';

/** The archive of the request’s paper. */
export function archiveOf({ store }: Pick<AppContext, 'store'>, c: PaperContext): Archive {
  return store.archive(c.get('site').slug);
}

/** The absolute addresses that rows carry. */
export function linksFor({ store }: Pick<AppContext, 'store'>, c: PaperContext): Links {
  return linksOf(editionOf({ store }, c));
}

/** The paper as the press reads it, for one response. */
export function editionOf({ store }: Pick<AppContext, 'store'>, c: PaperContext): Edition {
  const { slug, root } = c.get('site');
  return new Edition(memoized(store.archive(slug)), siteOf(root));
}

/** A piece by its id or its slug, whatever its state. Throws `not_found`. */
export function requirePiece(archive: Archive, name: string): Story {
  const story = archive.storyById(name) ?? archive.storyBySlug(name);
  if (story === null) throw pieceNotFound(name);
  return story;
}

/**
 * A piece that the caller may read: on air, or any of the desk's own with a key.
 * Throws `not_found`, and `withdrawn` for what was on air and was taken off.
 */
export function readablePiece(archive: Archive, name: string, c: PaperContext): Story {
  const story = requirePiece(archive, name);
  if (isWithdrawn(story)) {
    const withdrawn_at = isoTime(story.withdrawn_at ?? 0);
    throw new Fault('withdrawn', `this piece was withdrawn on ${withdrawn_at.slice(0, 10)}: ${story.reason}`, {
      withdrawn_at,
      reason: story.reason,
    });
  }
  if (story.state !== 'on_air' && c.get('key') === null) throw pieceNotFound(name);
  return story;
}

/** Where a piece's proof is: among the paper's own files, else behind a route that takes a key. */
export function proofUrl(c: PaperContext, story: Story): string {
  const { root, paper } = c.get('site');
  return story.state === 'on_air' && paper.paper_public
    ? `${root}/stories/${story.slug}/proof.json`
    : `${root}/api/v1/stories/${story.id}/proof`;
}

/** The fault of a piece that is not on air, or not at all. */
export function pieceNotFound(name: string): Fault {
  return new Fault('not_found', `this paper has no piece ${JSON.stringify(name.slice(0, 200))} on air`);
}
