import { isoTime as made } from '../time.ts';

/** Maximum number of cached texts. */
const KEPT_MAX = 1_000;
const kept = new Map<number, string>();

/** As `isoTime` of `time.ts`, cached: a story's files and the lists around it repeat the same instants. */
export function isoTime(at: number): string {
  let text = kept.get(at);
  if (text === undefined) {
    text = made(at);
    if (kept.size >= KEPT_MAX) kept.clear();
    kept.set(at, text);
  }
  return text;
}

/** `YYYY-MM-DD`. */
export function dayOf(at: number): string {
  return isoTime(at).slice(0, 10);
}
