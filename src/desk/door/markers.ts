/**
 * A `[^N]` marker; N counts from 1. Markers count everywhere, including code and autolinks, because nobody may remove
 * one. A backslash escapes the next character: `\\[^1]` is not a marker, and `\\\\[^1]` is one.
 */
const MARKER = /\\[\s\S]|\[\^(\d{1,6})\]/g;

/** All markers in a prose, in order, with their offsets in UTF-16 units. */
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

/** A replacement in a text: `insert` replaces what is between two offsets. */
export interface MarkerChange {
  from: number;
  to: number;
  insert: string;
}

/**
 * The changes that renumber a prose's markers, in order. `numberOf` is called with each number. If it returns null the
 * marker is removed; if it returns the same number the marker stays as it is.
 */
export function renumbering(prose: string, numberOf: (n: number) => number | null): MarkerChange[] {
  return markersIn(prose).flatMap(({ n, offset }) => {
    const number = numberOf(n);
    if (number === n) return [];
    const to = prose.indexOf(']', offset) + 1;
    return [{ from: offset, to, insert: number === null ? '' : `[^${number}]` }];
  });
}

/** Applies changes to a text. They must be in order and must not overlap. */
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
 * The numbers of a prose's facts, in the order in which it first cites them. `count` is the number of facts; uncited
 * facts come last, in their own order.
 */
export function orderCited(prose: string, count: number): number[] {
  const cited = new Set(markersIn(prose).map(({ n }) => n));
  const known = [...cited].filter((n) => n >= 1 && n <= count);
  const others = Array.from({ length: count }, (_, index) => index + 1).filter((n) => !cited.has(n));
  return [...known, ...others];
}
