import type { Archive, Row } from '../archive.ts';
import { NEWEST_MAX } from '../dependencies.ts';

/** Prose longer than this, in UTF-16 units, is rendered in a worker: the worst case of this length takes 100 ms. */
const LONG_PROSE = 50_000;
/** Highlighting code takes this many times as long as rendering text of the same length. */
const CODE_WEIGHT = 10;
/** Feeds whose pieces have more prose than this in total take as long. */
const LONG_PROSE_TOTAL = 1_000_000;

/** Whether printing would block the event loop: one long story, or the newest together, which feeds show in full. */
export function hasLongProse(archive: Archive, names: Iterable<string>): boolean {
  let total = 0;
  for (const row of [...archive.latest({ limit: NEWEST_MAX }), ...storiesOf(archive, names)]) {
    const prose = archive.storyById(row.id)?.prose ?? '';
    const length = prose.length + CODE_WEIGHT * codeLength(prose);
    total += prose.length;
    if (length > LONG_PROSE || total > LONG_PROSE_TOTAL) return true;
  }
  return false;
}

/** Estimates how much of a prose is inside fences, most of which begin a line. */
function codeLength(prose: string): number {
  const parts = prose.split(/\n(?:```|~~~)/);
  return parts.reduce((sum, part, index) => (index % 2 === 1 ? sum + part.length : sum), 0);
}

function* storiesOf(archive: Archive, names: Iterable<string>): Iterable<Row> {
  for (const name of names) {
    const story = name.startsWith('story/') ? archive.storyBySlug(name.slice('story/'.length)) : null;
    if (story?.state === 'on_air') yield story;
  }
}
