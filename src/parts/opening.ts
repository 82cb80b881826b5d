import type { RowView } from '../desk/press/views.ts';

/** The lead of a list is the first of this many pieces with a picture, as on the front. */
const LED_BY = 3;

/** Splits a list into its lead, at most `most` pieces beside it, and the rest in order. */
export function openingOf([...rows]: readonly RowView[], most: number) {
  const at = rows.slice(0, LED_BY).findIndex(({ image }) => image !== null);
  const [lead = null] = rows.splice(Math.max(0, at), 1);
  return { lead, beside: rows.splice(0, most), rest: rows };
}

/** Whether any of the pieces has a picture. Those without one then get a drawing. */
export const isPictured = (rows: readonly RowView[]): boolean => rows.some(({ image }) => image !== null);
