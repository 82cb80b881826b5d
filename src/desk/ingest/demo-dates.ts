import { DAY, dayOf, isoTime } from '../../proof/time.ts';
import { isDemoPaper } from './demo-papers.ts';
import type { SourceFile } from './source-file.ts';

/** The time of the newest piece of the demo papers, as their files have it, in ms. */
const NEWEST = Date.UTC(2026, 10, 21, 11, 40);

/**
 * By how many ms, whole days, the dates of a paper's files are moved ahead: those of a demo paper so that its newest
 * piece is of the 24 hours before it was first filed, so that it is dated the same at each later start. Others stay.
 */
export function demoShift(paper: { slug: string; nameplate: string }, foundedAt: number): number {
  return isDemoPaper(paper) ? Math.max(0, Math.floor((foundedAt - NEWEST) / DAY)) * DAY : 0;
}

/** A story file whose dates are moved ahead, unless they are newer than the demo: such a piece is somebody's own. */
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

/** The day of an edition, moved ahead with the pieces of its day. */
export function movedDay(day: string, shift: number): string {
  return Date.parse(day) <= NEWEST ? dayOf(Date.parse(day) + shift) : day;
}
