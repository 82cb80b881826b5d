import type { Archive, Story } from '../../src/desk/archive.ts';
import { Edition, siteOf } from '../../src/desk/press/edition.ts';
import { memoized } from '../../src/desk/press/memoized.ts';
import { linksOf } from '../../src/desk/press/outputs/frame.ts';
import type { Links } from '../../src/desk/story.ts';
import { refuseWithdrawn } from '../../src/desk/withdrawal.ts';
import type { AppContext } from '../../src/server/context.ts';
import { Fault } from '../../src/shared/fault.ts';
import type { PaperContext } from '../env.ts';

/** The archive of the request's paper. */
export function archiveOf({ store }: Pick<AppContext, 'store'>, c: PaperContext): Archive {
  return store.desk.archive(c.get('site').slug);
}

/** Builds the absolute URLs in rows. */
export function linksFor({ store }: Pick<AppContext, 'store'>, c: PaperContext): Links {
  return linksOf(editionOf({ store }, c));
}

/** The paper as the press reads it, for the duration of one response. */
export function editionOf({ store }: Pick<AppContext, 'store'>, c: PaperContext): Edition {
  const { slug, root } = c.get('site');
  return new Edition(memoized(store.desk.archive(slug)), siteOf(root));
}

/** Finds a piece by id or slug, in any state. Throws `not_found`. */
export function requirePiece(archive: Archive, name: string): Story {
  const story = archive.storyById(name) ?? archive.storyBySlug(name);
  if (story === null) throw pieceNotFound(name);
  return story;
}

/** Finds a piece on air or, with a key, of the caller's desk. Throws `not_found`, `withdrawn`. */
export function readablePiece(archive: Archive, name: string, c: PaperContext): Story {
  const story = requirePiece(archive, name);
  refuseWithdrawn(story, 'record');
  if (story.state !== 'on_air' && c.get('key') === null) throw pieceNotFound(name);
  return story;
}

/** The URL of a piece's proof: one of the paper's static files, or a route that requires a key. */
export function proofUrl(c: PaperContext, story: Story): string {
  const { root, paper } = c.get('site');
  return story.state === 'on_air' && paper.paper_public
    ? `${root}/stories/${story.slug}/proof.json`
    : `${root}/api/v1/stories/${story.id}/proof`;
}

/** The fault for a piece that does not exist or is not on air. */
export function pieceNotFound(name: string): Fault {
  return new Fault('not_found', `this paper has no piece ${JSON.stringify(name.slice(0, 200))} on air`);
}
