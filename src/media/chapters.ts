import type { Chapter } from '../desk/papers/media.ts';
import { CHAPTER_TITLE_MAX, CHAPTERS_MAX, InvalidMedia, type MediaProperties } from './media-formats.ts';

const CURE = 'take its chapter marks out, and list the chapters in the edition’s record';

export const damagedChapters = (): InvalidMedia => new InvalidMedia(`has a damaged chapter mark; ${CURE}`);

/** Throws `InvalidMedia` when a file has more chapters than an edition may have. */
export function requireFew(count: number): void {
  if (count > CHAPTERS_MAX) {
    throw new InvalidMedia(`has ${count} chapters, more than the ${CHAPTERS_MAX} that are allowed; ${CURE}`);
  }
}

/** The properties of a sound. Sorts the chapters, which ID3 permits in any order, and drops those without a title. */
export function soundProperties(duration_ms: number, found: readonly Chapter[]): MediaProperties {
  requireFew(found.length);
  const chapters = found
    .map(({ time, title }) => ({ time, title: plainTitle(title) }))
    .filter(({ title }) => title !== '')
    .sort((a, b) => a.time - b.time);
  const end = Math.round(duration_ms) / 1000;
  for (const [index, { time, title }] of chapters.entries()) {
    const named = `has the chapter ${JSON.stringify(title.slice(0, 60))} at ${time} s`;
    if (time >= end) throw new InvalidMedia(`${named}, after its end at ${end} s; ${CURE}`);
    if (chapters[index - 1]?.time === time) throw new InvalidMedia(`${named}, where another one begins; ${CURE}`);
  }
  const properties = { width: null, height: null, duration_ms: Math.round(duration_ms) };
  return chapters.length === 0 ? properties : { ...properties, chapters };
}

/** A title as a single line, as records require. */
function plainTitle(title: string): string {
  return title
    .toWellFormed()
    .replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, CHAPTER_TITLE_MAX)
    .toWellFormed()
    .normalize('NFC');
}
