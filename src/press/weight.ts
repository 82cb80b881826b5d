import type { Archive, Row } from '../desk/archive.ts';
import { NEWEST_MAX } from '../desk/tags.ts';

/** Prose that is longer, in UTF-16 units, is rendered on another thread: the worst of that length takes a tenth of a second. */
const LONG_PROSE = 50_000;
/** So much prose together makes feeds that take as long. */
const LONG_PROSE_TOTAL = 1_000_000;

/** Lengths of prose, by piece and revision: of what feeds show, a publish brings one that is new. */
const lengths = new Map<string, number>();
const KEPT_MAX = 2_000;

/**
 * Whether printing these sheets would keep everybody else waiting: a story among
 * them, or among the newest ones that feeds show in full, is very long, or they are so together.
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
  if (lengths.size > KEPT_MAX && oldest !== undefined) lengths.delete(oldest);
  return length;
}
