import canonicalize from 'canonicalize';
import { daySpan } from '../time.ts';
import type { Row } from './archive.ts';
import type { Cast } from './cast.ts';
import type { StoryEvent } from './event.ts';
import { isNews } from './event.ts';
import type { GenerationEntry, RecordEntry } from './ledger-entry.ts';
import type { LedgerStore } from './ledger-store.ts';

/**
 * Tells of a piece that went on air, unless it brings its own old date. One that
 * comes back is told of whatever its date, for its withdrawal was told.
 */
export function emitAired(
  store: LedgerStore,
  paper: string,
  piece: string,
  { onAirAt, at, again }: { onAirAt: number; at: number; again: boolean },
): void {
  if (again || isNews(onAirAt, at)) emitStory(store, { type: 'story.aired', paper, at, left: null }, piece);
}

/** Tells of a revision of a piece on air, unless it was made long before it came in. */
export function emitRevised(store: LedgerStore, { paper, piece, at }: GenerationEntry, before: Row): void {
  if (!isNews(piece.revised_at ?? at, at)) return;
  const left = before.category === piece.category ? null : before.category;
  emitStory(store, { type: 'story.revised', paper, at, left }, piece.id);
}

export function emitWithdrawn(
  store: LedgerStore,
  paper: string,
  before: Row,
  { at, reason }: { at: number; reason: string },
): void {
  store.emit({ type: 'story.withdrawn', paper, at, story: rowOf(before), reason });
}

/**
 * Tells of a video edition, before it is entered: one of a day long gone is of
 * the archive, and one that was only measured anew says nothing new.
 */
export function emitCast(store: LedgerStore, { paper, name, body, at }: RecordEntry): void {
  const before = store.archive(paper).cast(name);
  const cast = { ...(body as Cast), day: name };
  const isTold =
    before === null ? isNews(daySpan(name).until, at) : canonicalize(withoutVideoProperties(before)) !== canonicalize(withoutVideoProperties(cast));
  if (isTold) store.emit({ type: 'cast.published', paper, at, cast });
}

function emitStory(store: LedgerStore, event: Omit<StoryEvent, 'story'>, piece: string): void {
  const story = store.archive(event.paper).storyById(piece);
  if (story?.state === 'on_air') store.emit({ ...event, story: rowOf(story) });
}

/** An edition without what its media files told. */
function withoutVideoProperties({ duration_s: _s, bytes: _b, media_type: _type, ...rest }: Cast): unknown {
  return rest;
}

/** A row alone, where more came with it. */
function rowOf(row: Row): Row {
  return {
    id: row.id,
    slug: row.slug,
    headline: row.headline,
    dek: row.dek,
    category: row.category,
    kind: row.kind,
    persona: row.persona,
    byline: row.byline,
    language: row.language,
    image: row.image,
    revision: row.revision,
    published_at: row.published_at,
    updated_at: row.updated_at,
  };
}
