import canonicalize from 'canonicalize';
import { daySpan } from '../time.ts';
import type { Row } from './archive.ts';
import type { Cast } from './cast.ts';
import type { StoryEvent } from './event.ts';
import { isNews } from './event.ts';
import type { GenerationEntry, RecordEntry } from './ledger-entry.ts';
import type { LedgerStore } from './ledger-store.ts';

/**
 * Emits `story.aired`, unless the piece carries an old date. A piece that returns after a withdrawal is announced
 * whatever its date, because its withdrawal was announced.
 */
export function emitAired(
  store: LedgerStore,
  paper: string,
  piece: string,
  { onAirAt, at, again }: { onAirAt: number; at: number; again: boolean },
): void {
  if (again || isNews(onAirAt, at)) emitStory(store, { type: 'story.aired', paper, at, left: null }, piece);
}

/** Emits `story.revised` for a piece on air, unless the revision was made long before it was filed. */
export function emitRevised(store: LedgerStore, { paper, piece, at }: GenerationEntry, before: Row): void {
  if (!isNews(piece.revised_at ?? at, at)) return;
  const left = before.category === piece.category ? null : before.category;
  emitStory(store, { type: 'story.revised', paper, at, left }, piece.id);
}

export function emitWithdrawn(
  store: LedgerStore,
  paper: string,
  before: Row,
  { at, reason, headline_withheld }: { at: number; reason: string; headline_withheld: boolean },
): void {
  store.emit({ type: 'story.withdrawn', paper, at, story: rowOf(before), reason, headline_withheld });
}

/**
 * Emits `cast.published` before the record is applied. Editions of past days are archive material, and measuring a
 * video again does not change its edition.
 */
export function emitCast(store: LedgerStore, { paper, name, body, at }: RecordEntry): void {
  const before = store.archive(paper).cast(name);
  const cast = { ...(body as Cast), day: name };
  const isNew =
    before === null
      ? isNews(daySpan(name).until, at)
      : canonicalize(withoutVideoProperties(before)) !== canonicalize(withoutVideoProperties(cast));
  if (isNew) store.emit({ type: 'cast.published', paper, at, cast });
}

function emitStory(store: LedgerStore, event: Omit<StoryEvent, 'story'>, piece: string): void {
  const story = store.archive(event.paper).storyById(piece);
  if (story?.state === 'on_air') store.emit({ ...event, story: rowOf(story) });
}

/** An edition without the properties that were read from its video. */
function withoutVideoProperties({ duration_s: _s, bytes: _b, media_type: _type, ...rest }: Cast): unknown {
  return rest;
}

/** Copies only the members of a row from a larger object. */
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
    writers: row.writers,
    writer: row.writer,
    tags: row.tags,
    revision: row.revision,
    published_at: row.published_at,
    updated_at: row.updated_at,
  };
}
