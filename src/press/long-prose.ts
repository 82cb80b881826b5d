import type { Archive, Row } from '../desk/archive.ts';
import { NEWEST_MAX } from '../desk/tags.ts';

/** Longer prose, in UTF-16 units, is rendered in a worker: the worst case of this length takes 100 ms. */
const LONG_PROSE = 50_000;
/** Feeds whose pieces together have this much prose take as long. */
const LONG_PROSE_TOTAL = 1_000_000;

/** Lengths of prose by piece and revision. A publish adds one to those that feeds show. */
const lengths = new Map<string, number>();
const CACHED_MAX = 2_000;

/**
 * Whether printing these outputs would block the event loop, because one story is very long, or because the newest
 * stories are very long together. Feeds show the newest ones in full.
 */
export function hasLongProse(archive: Archive, names: Iterable<string>): boolean {
  let total = 0;
  for (const row of [...archive.latest({ limit: NEWEST_MAX }), ...storiesOf(archive, names)]) {
    const length = lengthOf(archive, row);
    total += length;
    if (length > LONG_PROSE || total > LONG_PROSE_TOTAL) return true;
  }
  return false;
}

function* storiesOf(archive: Archive, names: Iterable<string>): Iterable<Row> {
  for (const name of names) {
    const story = name.startsWith('story/') ? archive.storyBySlug(name.slice('story/'.length)) : null;
    if (story?.state === 'on_air') yield story;
  }
}

function lengthOf(archive: Archive, { id, revision }: Row): number {
  const key = `${id} ${revision}`;
  const length = lengths.get(key) ?? archive.storyById(id)?.prose.length ?? 0;
  lengths.set(key, length);
  const oldest = lengths.keys().next().value;
  if (lengths.size > CACHED_MAX && oldest !== undefined) lengths.delete(oldest);
  return length;
}
