import { isoTime } from '../time.ts';

/** The body of every webhook request (protocol 10), as JSON. `at` is in ms. */
export function eventBody(type: string, at: number, data: object): string {
  return JSON.stringify({ type, timestamp: isoTime(at), data });
}
