/**
 * A `[^N]` marker; N counts from 1. Markers count everywhere, including code and autolinks, because nobody may remove
 * one. A backslash escapes the next character: `\\[^1]` is not a marker, and `\\\\[^1]` is one.
 */
const MARKER = /\\[\s\S]|\[\^(\d{1,6})\]/g;

/** Every marker of a prose, in order, with its offset in UTF-16 units. */
export function markersIn(prose: string): { n: number; offset: number }[] {
  return [...prose.matchAll(MARKER)]
    .filter((match) => match[1] !== undefined)
    .map((match) => ({ n: Number(match[1]), offset: match.index }));
}

/** Splits a text at its markers into texts and numbers, alternating. */
export function splitAtMarkers(text: string): (string | number)[] {
  const parts: (string | number)[] = [];
  let end = 0;
  for (const { n, offset } of markersIn(text)) {
    parts.push(text.slice(end, offset), n);
    end = text.indexOf(']', offset) + 1;
  }
  return [...parts, text.slice(end)];
}

/** A change to a text: `insert` in place of what is between two offsets. */
export interface MarkerChange {
  from: number;
  to: number;
  insert: string;
}

/**
 * What gives the markers of a prose new numbers, in order. `numberOf` is called with each number; a marker whose number
 * it answers with null is removed, and one that keeps its number is left as it is.
 */
export function renumbering(prose: string, numberOf: (n: number) => number | null): MarkerChange[] {
  return markersIn(prose).flatMap(({ n, offset }) => {
    const number = numberOf(n);
    if (number === n) return [];
    const to = prose.indexOf(']', offset) + 1;
    return [{ from: offset, to, insert: number === null ? '' : `[^${number}]` }];
  });
}

/** A text after its changes, which are in order and do not overlap. */
export function changedBy(text: string, changes: readonly MarkerChange[]): string {
  let done = '';
  let end = 0;
  for (const { from, to, insert } of changes) {
    done += text.slice(end, from) + insert;
    end = to;
  }
  return done + text.slice(end);
}

/**
 * The order in which a prose first cites its facts, of which there are `count`, as their numbers: those that it does not
 * cite come last, in their own order.
 */
export function orderCited(prose: string, count: number): number[] {
  const cited = new Set(markersIn(prose).map(({ n }) => n));
  const known = [...cited].filter((n) => n >= 1 && n <= count);
  const others = Array.from({ length: count }, (_, index) => index + 1).filter((n) => !cited.has(n));
  return [...known, ...others];
}
