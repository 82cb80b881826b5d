import type { Archive, Row } from '../archive.ts';
import { NEWEST_MAX } from '../dependencies.ts';

/** Longer prose, in UTF-16 units, is rendered in a worker: the worst case of this length takes 100 ms. */
const LONG_PROSE = 50_000;
/** Feeds whose pieces together have this much prose take as long. */
const LONG_PROSE_TOTAL = 1_000_000;

/** Whether printing would block the loop: one long story, or the newest ones together, which feeds show in full. */
export function hasLongProse(archive: Archive, names: Iterable<string>): boolean {
  let total = 0;
  for (const row of [...archive.latest({ limit: NEWEST_MAX }), ...storiesOf(archive, names)]) {
    const length = archive.storyById(row.id)?.prose.length ?? 0;
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
