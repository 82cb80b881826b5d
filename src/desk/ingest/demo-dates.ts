import { DAY, dayOf, isoTime } from '../../proof/time.ts';
import { isDemoPaper } from './demo-papers.ts';
import type { SourceFile } from './source-file.ts';

/** The time of the newest piece in the files of the demo papers, in ms. */
const NEWEST = Date.UTC(2026, 10, 21, 11, 40);

/**
 * How far the dates of a paper's files are moved ahead, in ms; always whole days. The newest piece of a demo paper is
 * moved into the 24 hours before its first filing, so that later starts give the same dates. Other papers are not
 * moved.
 */
export function demoShift(paper: { slug: string; nameplate: string }, foundedAt: number): number {
  return isDemoPaper(paper) ? Math.max(0, Math.floor((foundedAt - NEWEST) / DAY)) * DAY : 0;
}

/** Moves the dates of a story file ahead, except dates newer than the demo, whose pieces somebody else added. */
export function withDatesMoved(source: SourceFile, shift: number): SourceFile {
  const moved = (data: SourceFile['data']) => {
    if (data === null) return null;
    const dates = Object.entries(data).filter(([name]) => name === 'air' || name === 'revised_at');
    return { ...data, ...Object.fromEntries(dates.map(([name, value]) => [name, movedDate(value, shift)])) };
  };
  return { ...source, data: moved(source.data), faulty: moved(source.faulty) };
}

function movedDate(value: unknown, shift: number): unknown {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return at <= NEWEST ? isoTime(at + shift) : value;
}

/** Moves the day of an edition ahead together with the pieces of that day. */
export function movedDay(day: string, shift: number): string {
  return Date.parse(day) <= NEWEST ? dayOf(Date.parse(day) + shift) : day;
}
