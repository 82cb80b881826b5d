import { plural } from '../plural.ts';
import { DAY, HOUR, isoTime, MINUTE } from '../time.ts';

/** When a clock is wrong. Pure: all times come from the caller, in ms. */

/** How far a clock may be off before nothing is signed by it. */
export const TOLERANCE = 5 * MINUTE;
/** A correct clock is never earlier than the first version of this program. */
const FIRST = Date.UTC(2026, 0, 1);

/** The wall clock, and a monotonic clock that keeps running during suspend, read together. */
export interface ClockReading {
  wall: number;
  steady: number;
}

/** The time according to another machine. */
export interface OutsideTime {
  /** The name of that machine, for display. */
  name: string;
  /** By how much the wall clock here was ahead of it, in ms; negative when it was behind. */
  ahead: number;
}

export interface ClockEvidence {
  now: ClockReading;
  /** When the clock was right for the last time; null at the start. */
  trusted: ClockReading | null;
  /** The newest time that was signed or entered here, in ms; 0 before the first. */
  newest: number;
  outside: readonly OutsideTime[];
}

/** Why nothing is signed. `message` is a sentence without its full stop that ends in the cure. */
export interface ClockFault {
  kind: 'too_early' | 'jumped' | 'behind' | 'contradicted';
  message: string;
}

const SYNC = 'set it, and synchronize it with NTP';

/** What is wrong with a clock; null when nothing shows that it is. */
export function clockFault({ now, trusted, newest, outside }: ClockEvidence): ClockFault | null {
  const { wall } = now;
  const here = `the clock here says ${shown(wall)}`;
  if (!(wall >= FIRST))
    return { kind: 'too_early', message: `${here}, which is before this program was written: ${SYNC}` };
  if (newest - wall > TOLERANCE) {
    const cure = 'set it right; if it is right, and ran ahead before, run `npm run -s broadsheet -- clock correct`';
    return { kind: 'behind', message: `${here}, and the newest record is of ${shown(newest)}: ${cure}` };
  }
  const jump = trusted === null ? 0 : jumpBetween(trusted, now);
  if (Math.abs(jump) > TOLERANCE) {
    const way = jump > 0 ? 'ahead' : 'back';
    const message = `${here}, and was moved ${way} by ${spanText(jump)} meanwhile: set it right; if it is right now, restart the server`;
    return { kind: 'jumped', message };
  }
  const off = outside.filter(({ ahead }) => Math.abs(ahead) > TOLERANCE);
  const [first] = off;
  // One machine whose own clock is wrong must not silence another.
  if (first === undefined || off.length * 2 <= outside.length) return null;
  const said = off.map(({ name, ahead }) => `${spanText(ahead)} ${ahead > 0 ? 'ahead of' : 'behind'} ${name}`);
  return { kind: 'contradicted', message: `${here}, ${said.join(', ')}: ${SYNC}` };
}

/** By how much the wall clock was moved ahead between two readings, in ms; negative when it was moved back. */
export function jumpBetween(before: ClockReading, after: ClockReading): number {
  return after.wall - before.wall - (after.steady - before.steady);
}

/** A time, also one that has no ISO text. */
function shown(at: number): string {
  return Math.abs(at) <= 8.64e15 ? isoTime(at) : String(at);
}

/** A span in the largest unit of which it has two: `365 days`, `20 minutes`. */
function spanText(ms: number): string {
  const size = Math.abs(ms);
  for (const [unit, name] of [
    [DAY, 'day'],
    [HOUR, 'hour'],
  ] as const) {
    if (size >= 2 * unit) return plural(Math.round(size / unit), name);
  }
  return plural(Math.round(size / MINUTE), 'minute');
}
