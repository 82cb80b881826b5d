import type { Column } from './sql.ts';

// One parser for each type of column.

export const text: Column<string> = (value) => (typeof value === 'string' ? value : unlike('a text', value));

/** A safe integer. */
export const integer: Column<number> = (value) =>
  Number.isSafeInteger(value) ? Number(value) : unlike('a whole number', value);

/** 0 or 1. */
export const flag: Column<boolean> = (value) => (value === 1 || value === 0 ? value === 1 : unlike('0 or 1', value));

/** A copy of the driver's bytes. */
export const bytes: Column<Uint8Array> = (value) =>
  value instanceof Uint8Array || value instanceof ArrayBuffer ? new Uint8Array(value) : unlike('bytes', value);

/** JSON that this program wrote, as type `T`. */
export const json =
  <T>(): Column<T> =>
  (value) =>
    JSON.parse(text(value));

/** One of these words. */
export const oneOf = <const W extends string>(...words: readonly W[]): Column<W> => {
  const known = new Map<unknown, W>(words.map((word) => [word, word]));
  return (value) => known.get(value) ?? unlike(words.join(' or '), value);
};

export const orNull =
  <T>(column: Column<T>): Column<T | null> =>
  (value) =>
    value === null ? null : column(value);

function unlike(kind: string, value: unknown): never {
  throw new TypeError(`${JSON.stringify(value)} is not ${kind}`);
}
