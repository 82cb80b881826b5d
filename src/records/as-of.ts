import { Fault } from '../fault.ts';
import type { Span } from '../time.ts';
import { isoTime } from '../time.ts';

/**
 * The last millisecond of a requested time, at which a hostname is shown; `text` is how it was requested. Throws
 * `invalid_request` for a time in the future.
 */
export function asOfEnd({ from, until }: Span, text: string, now: number): number {
  if (from <= now) return until - 1;
  throw new Fault(
    'invalid_request',
    `as_of: ${JSON.stringify(text.slice(0, 60))} is in the future; it is now ${isoTime(now)}. Ask for that or earlier`,
    { field: 'as_of' },
  );
}
